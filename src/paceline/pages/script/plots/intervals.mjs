/**
 * Intervals: a rate as a dot with its interval as a bar, on a scale from 0 to 100 %.
 *
 * Small enough to stand in a row of a table, so that the rows of a table are the plot. Knows proportions.
 */

import { shape } from "../parts/dom.mjs";
import { percent } from "../parts/numbers.mjs";

const [WIDTH, HEIGHT, THICK] = [200, 18, 7];

/** One row of the plot; without an interval, only the dot. */
export function interval(rate, bounds) {
  const says = bounds
    ? `${percent(rate)}, interval ${percent(bounds.low)} to ${percent(bounds.high)}`
    : percent(rate);
  const x = (share) => 4 + share * (WIDTH - 8);
  const svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "interval",
    role: "img",
    "aria-label": says,
    focusable: "false",
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(shape("line", { class: "rule", x1: x(share), x2: x(share), y1: 0, y2: HEIGHT }));
  }
  if (bounds) {
    const width = Math.max(1, x(bounds.high) - x(bounds.low));
    svg.append(
      shape("rect", {
        class: "range",
        x: x(bounds.low),
        y: (HEIGHT - THICK) / 2,
        rx: 2,
        width,
        height: THICK,
      }),
    );
  }
  if (rate !== null && rate !== undefined)
    svg.append(shape("circle", { class: "dot", cx: x(rate), cy: HEIGHT / 2, r: 3.5 }));
  return svg;
}
