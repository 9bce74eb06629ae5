/** Chance that is the same every time: `seeded(7)` answers a function that draws whole numbers below a bound. */
export function seeded(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
