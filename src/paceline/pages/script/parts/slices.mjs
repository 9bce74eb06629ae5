/**
 * Slices: how cases did, for each value of a field, with the interval that so few cases allow.
 *
 * The rate is that of cases that were run, failures counted as failures; what has no assertion, and what was
 * not run, is counted apart. Where cases repeat, or hang together by a field, the interval goes by these groups,
 * as that of the report does. Knows sheets.
 */

import { STANDINGS } from "./sheet.mjs";
import { clustered, wilson } from "./statistics.mjs";

/** Different cases below which a slice is marked as small. */
export const FEW = 10;

/** How these rows did: counts by standing, `rate` (null where nothing can be said) and `bounds`. */
export function figures(sheet, rows) {
  const standings = sheet.standings();
  const counts = new Array(STANDINGS.length).fill(0);
  for (const row of rows) counts[standings[row]]++;
  const [passed, failed, error] = counts;
  const of = passed + failed + error;
  return {
    n: rows.length,
    ...Object.fromEntries(STANDINGS.map((name, place) => [name, counts[place]])),
    of,
    rate: of ? passed / of : null,
    bounds: sheet.grouped ? clustered(groups(sheet, rows, standings)) : wilson(passed, of),
  };
}

function groups(sheet, rows, standings) {
  const cases = sheet.groups();
  const found = new Map();
  for (const row of rows) {
    if (standings[row] > 2) continue;
    const group = found.get(cases[row]) ?? [0, 0];
    group[0] += standings[row] === 0 ? 1 : 0;
    group[1] += 1;
    found.set(cases[row], group);
  }
  return [...found.values()];
}

function different(sheet, rows) {
  const names = sheet.at("case");
  return new Set(rows.map((row) => names[row])).size;
}

/** The slices of a column of words, largest first; rows without a value are one of them. */
export function slices(sheet, column, mask = null) {
  const rows = new Map();
  for (let row = 0; row < sheet.n; row++) {
    if (mask && !mask[row]) continue;
    const code = column.values[row];
    if (!rows.has(code)) rows.set(code, []);
    rows.get(code).push(row);
  }
  return [...rows]
    .map(([code, members]) => ({
      code,
      word: column.words[code],
      cases: different(sheet, members),
      ...figures(sheet, members),
    }))
    .sort((a, b) => b.n - a.n || a.code - b.code);
}

/** The columns by which it makes sense to slice: several words, not very many, and far fewer than cases. */
export function sliceable(sheet, most = 40) {
  // Code 0 stands for having no value.
  const words = (column) => (column.words ? column.words.length - 1 : Infinity);
  const columns = [...sheet.group("metadata"), ...sheet.group("label")];
  const few = Math.min(most, sheet.n / 2);
  return columns.filter((column) => words(column) > 1 && words(column) <= few);
}
