/**
 * Differences: by how much one figure lies from another, as a dot with its interval, on either side of nothing.
 *
 * Small enough to stand in a row of a table. Knows numbers.
 */

import { shape } from "../parts/dom.mjs";

const [WIDTH, HEIGHT, THICK] = [200, 18, 7];

/** One row; the scale goes as far to both sides, and as far as it has to. */
export function difference(value, bounds, says) {
  const far = Math.max(Math.abs(value), Math.abs(bounds?.low ?? 0), Math.abs(bounds?.high ?? 0)) * 1.1 || 1;
  const x = (at) => WIDTH / 2 + (at / far) * (WIDTH / 2 - 4);
  const svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "interval",
    role: "img",
    "aria-label": says,
    focusable: "false",
  });
  svg.append(shape("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }));
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
  svg.append(shape("circle", { class: "dot", cx: x(value), cy: HEIGHT / 2, r: 3.5 }));
  return svg;
}
