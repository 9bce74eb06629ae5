/**
 * Axes: from numbers to places in a picture, and the few marks that tell which number is where.
 *
 * A plot is an SVG of fixed inner size that scales with the page, and says in a sentence what it shows, for
 * those who do not see it. Knows numbers and shapes.
 */

import { shape } from "../parts/dom.mjs";

/** Round numbers that divide a range. */
export function ticks(low, high, about = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * (1 - 1e-9)) ?? 10 * power;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) {
    found.push(Number(at.toPrecision(12)));
  }
  return found;
}

/** Round numbers on a scale of powers. */
export function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of [1, 2, 5]) {
      const at = factor * 10 ** power;
      if (at >= low * 0.999 && at <= high * 1.001) found.push({ at, whole: factor === 1 });
    }
  }
  return (found.length > 8 ? found.filter(({ whole }) => whole) : found).map(({ at }) => at);
}

/** A map from a range of numbers to a range of places. */
export function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** The same by powers. */
export function logScale(low, high, from, to) {
  const inner = scale(Math.log(low), Math.log(high), from, to);
  return (value) => inner(Math.log(Math.max(value, low)));
}

/** An empty picture that says what it shows. */
export function picture(width, height, says) {
  return shape("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": says,
    class: "plot",
    focusable: "false",
  });
}

/** Lines across, with their numbers at the left. */
export function across(values, y, { left, right, said }) {
  return values.flatMap((value) => [
    shape("line", { class: "rule", x1: left, x2: right, y1: y(value), y2: y(value) }),
    shape(
      "text",
      { class: "tick", x: left - 6, y: y(value), "text-anchor": "end", "dominant-baseline": "middle" },
      said(value),
    ),
  ]);
}

/** Numbers below, with a short line each. */
export function below(values, x, { at, said }) {
  return values.flatMap((value) => [
    shape("line", { class: "axis", x1: x(value), x2: x(value), y1: at, y2: at + 4 }),
    shape("text", { class: "tick", x: x(value), y: at + 16, "text-anchor": "middle" }, said(value)),
  ]);
}

/** The path along points. */
export function path(points) {
  return points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}
