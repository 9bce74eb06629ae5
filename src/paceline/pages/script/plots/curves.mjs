/**
 * Curves of few points: the chance of a pass by the number of tries, and what a provider bears by how many
 * calls it is given at a time.
 *
 * Points are what was measured; the line between them is for the eye only. Knows numbers.
 */

import { shape } from "../parts/dom.mjs";
import { percent, plain, seconds } from "../parts/numbers.mjs";
import { across, below, path, picture, scale, ticks } from "./axes.mjs";

const [WIDTH, LEFT, RIGHT] = [640, 46, 590];

/** pass@k and pass^k for each k: `[{k, value, interval}]`, the second in the same order or empty. */
export function tries(any, all) {
  const [height, top, bottom] = [200, 16, 170];
  const told = (name, points) => points.map(({ k, value }) => `${name}${k} ${percent(value)}`).join(", ");
  const svg = picture(WIDTH, height, [told("pass@", any), told("pass^", all)].filter(Boolean).join("; "));
  const x = scale(0, Math.max(1, any.length - 1), LEFT + 24, RIGHT - 24);
  const y = scale(0, 1, bottom, top);
  svg.append(
    ...across([0, 0.25, 0.5, 0.75, 1], y, { left: LEFT, right: RIGHT, said: (share) => `${share * 100}%` }),
  );
  svg.append(...below([...any.keys()], x, { at: bottom, said: (place) => `k = ${any[place].k}` }));
  for (const [points, up] of [
    [any, true],
    [all, false],
  ]) {
    svg.append(
      shape("path", { class: "line", d: path(points.map(({ value }, place) => [x(place), y(value)])) }),
    );
    for (const [place, point] of points.entries())
      svg.append(...estimate(x(place), y, point, up && point.value < 0.93));
  }
  return svg;
}

/** A point with its interval, and its number above or below. */
function estimate(cx, y, { value, interval }, above) {
  const whisker = interval
    ? [shape("line", { class: "whisker", x1: cx, x2: cx, y1: y(interval.low), y2: y(interval.high) })]
    : [];
  const place = { x: cx + 7, y: y(value) + (above ? -7 : 16) };
  return [
    ...whisker,
    shape("circle", { class: "dot", cx, cy: y(value), r: 3.5 }),
    shape("text", { class: "marker-text", ...place }, percent(value)),
  ];
}

/** Throughput and latency of each level of a climb: `[{level, rate, p95, failed}]`. */
export function ramp(levels) {
  const [height, top, bottom] = [210, 16, 166];
  const best = levels.reduce((a, b) => (b.rate > a.rate ? b : a));
  const slowest = Math.max(...levels.map(({ p95 }) => p95 ?? 0), 1e-9);
  const svg = picture(
    WIDTH,
    height,
    `Answers per second by calls at a time: most, ${plain(best.rate)}, with ${best.level} at a time`,
  );
  const x = scale(0, Math.max(1, levels.length - 1), LEFT + 20, RIGHT - 20);
  const y = scale(0, best.rate || 1, bottom, top);
  const slow = scale(0, slowest, bottom, top);
  svg.append(...across(ticks(0, best.rate || 1, 4), y, { left: LEFT, right: RIGHT, said: plain }));
  svg.append(...below([...levels.keys()], x, { at: bottom, said: (place) => String(levels[place].level) }));
  svg.append(
    shape(
      "text",
      { class: "tick", x: (LEFT + RIGHT) / 2, y: height - 8, "text-anchor": "middle" },
      "calls at a time",
    ),
  );
  const timed = levels
    .map((each, place) => ({ ...each, place }))
    .filter(({ p95 }) => typeof p95 === "number");
  if (timed.length) {
    const last = timed.at(-1);
    svg.append(
      shape("path", { class: "line second", d: path(timed.map(({ p95, place }) => [x(place), slow(p95)])) }),
      shape(
        "text",
        { class: "second-text", x: RIGHT - 8, y: slow(last.p95), "dominant-baseline": "middle" },
        seconds(last.p95),
      ),
    );
  }
  svg.append(shape("path", { class: "line", d: path(levels.map(({ rate }, place) => [x(place), y(rate)])) }));
  for (const [place, { rate, failed }] of levels.entries()) {
    svg.append(shape("circle", { class: failed > 0 ? "dot bad" : "dot", cx: x(place), cy: y(rate), r: 4 }));
  }
  return svg;
}
