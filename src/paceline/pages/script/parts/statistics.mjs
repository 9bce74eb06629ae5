/**
 * Intervals of proportions and quantiles, for slices that the reader chooses.
 *
 * The formulas are those of `paceline.statistics.proportions` and `paceline.report.quantiles`; a test holds
 * both against each other. Knows counts. What cannot be known from nothing is null.
 */

const Z = 1.959963984540054; // of 95 %

/** Student's quantile for 95 %, by degrees of freedom from 1; beyond the table an expansion is close enough. */
const STUDENT = [
  12.70620474, 4.30265273, 3.18244631, 2.77644511, 2.57058184, 2.44691185, 2.36462425, 2.30600414, 2.26215716,
  2.22813885, 2.20098516, 2.17881283, 2.16036866, 2.14478669, 2.13144955, 2.1199053, 2.10981558, 2.10092204,
  2.09302405, 2.08596345, 2.07961384, 2.07387307, 2.06865761, 2.06389856, 2.05953855, 2.05552944, 2.05183052,
  2.04840714, 2.04522964, 2.04227246, 2.03951345, 2.03693334, 2.0345153, 2.03224451, 2.03010793, 2.028094,
  2.02619246, 2.02439416, 2.02269092, 2.02107539, 2.01954097, 2.0180817, 2.0166922, 2.01536757, 2.01410339,
  2.0128956, 2.01174051, 2.01063476, 2.00957524,
];

function student(freedom) {
  if (freedom <= STUDENT.length) return STUDENT[freedom - 1];
  const [z3, z5, z7, z9] = [3, 5, 7, 9].map((power) => Z ** power);
  const terms = [
    (z3 + Z) / 4,
    (5 * z5 + 16 * z3 + 3 * Z) / 96,
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * Z) / 384,
    (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * Z) / 92160,
  ];
  return terms.reduce((sum, term, place) => sum + term / freedom ** (place + 1), Z);
}

/** Wilson's interval of `successes` out of `n`: `{low, high, n}`; null where nothing was observed. */
export function wilson(successes, n) {
  return n > 0 ? scored(successes, n, Z) : null;
}

function scored(successes, n, z) {
  const share = successes / n;
  const middle = share + (z * z) / (2 * n);
  const half = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return {
    low: successes <= 0 ? 0 : Math.max(0, (middle - half) / scale),
    high: successes >= n ? 1 : Math.min(1, (middle + half) / scale),
    n,
  };
}

/** The same where observations come in groups that hang together: `[[successes, size], ...]`. */
export function clustered(groups) {
  const counted = groups.filter(([, size]) => size > 0);
  const n = sum(counted.map(([, size]) => size));
  if (!n) return null;
  const share = sum(counted.map(([successes]) => successes)) / n;
  const many = counted.length;
  if (many < 2 || share <= 0 || share >= 1) return wilson(share * many, many);
  const squares = sum(counted.map(([successes, size]) => (successes - share * size) ** 2));
  const error = (squares * many) / (many - 1) / (n * n);
  const worth = error ? Math.min(n, Math.max(1, (share * (1 - share)) / error)) : n;
  return scored(share * worth, worth, student(many - 1));
}

/** Quantiles of numbers in any order, by linear interpolation; null of none. */
export function quantiles(values, wanted) {
  if (!values.length) return null;
  const ordered = Float64Array.from(values).sort();
  const last = ordered.length - 1;
  return wanted.map((q) => {
    const below = Math.floor(q * last);
    const above = Math.min(below + 1, last);
    return ordered[below] + (ordered[above] - ordered[below]) * (q * last - below);
  });
}

function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
