/**
 * A histogram: how numbers are distributed, with their median and their 95th percentile.
 *
 * Numbers that lie far apart are drawn on a scale of powers, and the axis shows it. Knows numbers.
 */

import { shape } from "../parts/dom.mjs";
import { count } from "../parts/numbers.mjs";
import { quantiles } from "../parts/statistics.mjs";
import { across, below, logScale, logTicks, picture, scale, ticks } from "./axes.mjs";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 190, 46, 616, 26, 160];
const BINS = 44;
const FAR = 25;
const VALUES_FOR_P95 = 20;

/** Counts of numbers in bins of equal width: `{low, high, counts, log}`. */
export function binned(values, bins = BINS) {
  const [low, middle, high] = quantiles(values, [0, 0.5, 1]);
  const log = low > 0 && high / middle > FAR;
  const place = (log ? logScale : scale)(low, high, 0, bins);
  const counts = new Array(high > low ? bins : 1).fill(0);
  for (const value of values) counts[Math.min(counts.length - 1, Math.max(0, Math.floor(place(value))))]++;
  return { low, high, counts, log };
}

/** The plot of some numbers, of which there is at least one; `said` writes one of them, `round` one of the axis. */
export function histogram(values, { said, round, what }) {
  const { low, high, counts, log } = binned(values);
  const [p50, p95] = quantiles(values, [0.5, 0.95]);
  const [from, to] = high > low ? [low, high] : [low * 0.9, low * 1.1 || 1];
  const most = Math.max(...counts);
  const x = (log ? logScale : scale)(from, to, LEFT, RIGHT);
  const y = scale(0, most, BOTTOM, TOP);
  const wide = (RIGHT - LEFT) / counts.length;
  const spread = `from ${said(low)} to ${said(high)}, of ${count(values.length)}`;
  const svg = picture(WIDTH, HEIGHT, `${what}: median ${said(p50)}, 95th percentile ${said(p95)}, ${spread}`);
  svg.append(
    ...across(ticks(0, most, 3).filter(Number.isInteger), y, { left: LEFT, right: RIGHT, said: count }),
  );
  for (const [place, number] of counts.entries()) {
    if (!number) continue;
    const top = Math.min(y(number), BOTTOM - 1);
    const box = { x: LEFT + place * wide + 0.5, y: top, width: Math.max(1, wide - 1), height: BOTTOM - top };
    svg.append(shape("rect", { class: "bar", ...box }));
  }
  svg.append(...below(log ? logTicks(from, to) : ticks(from, to, 6), x, { at: BOTTOM, said: round }));
  for (const [name, value] of markers(values.length, p50, p95, x)) {
    const turned = x(value) > RIGHT - 90;
    const anchor = { x: x(value) + (turned ? -4 : 4), y: TOP - 6, "text-anchor": turned ? "end" : "start" };
    svg.append(
      shape("line", { class: "marker", x1: x(value), x2: x(value), y1: TOP - 12, y2: BOTTOM }),
      shape("text", { class: "marker-text", ...anchor }, `${name} ${said(value)}`),
    );
  }
  return svg;
}

/** What is marked: two quantiles, one where few numbers tell no more, and both in one where they fall together. */
function markers(n, p50, p95, x) {
  if (n < VALUES_FOR_P95) return [["p50", p50]];
  return x(p95) - x(p50) < 2
    ? [["p50 and p95", p50]]
    : [
        ["p50", p50],
        ["p95", p95],
      ];
}
