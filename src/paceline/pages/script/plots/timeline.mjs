/**
 * The timeline: cases in progress, and how much of that was waiting; cases that ended per second, and those of
 * them that ended in an error.
 *
 * Time is that of the run: what lies between two processes that worked on it is left out, and a line stands
 * there. A case says from when to when it went on and how long it waited in all, not when; its waiting is
 * spread evenly over it. Knows times. Knows nothing of cases.
 */

import { shape } from "../parts/dom.mjs";
import { plain, roundSeconds } from "../parts/numbers.mjs";
import { across, below, path, picture, scale, ticks } from "./axes.mjs";

const [WIDTH, LEFT, RIGHT] = [640, 46, 616];
const BINS = 120;

/** The clock of a run, `[[started, seen], ...]`: moments as seconds of work, pauses between processes left out. */
export function runClock(processes) {
  const parts = [];
  let length = 0;
  for (const [started, seen] of processes) {
    parts.push({ started, seen, before: length });
    length += Math.max(0, seen - started);
  }
  const clock = (moment) => {
    let found = parts[0];
    for (const each of parts) if (each.started <= moment) found = each;
    return found ? found.before + Math.min(Math.max(0, moment - found.started), Math.max(0, found.seen - found.started)) : 0;
  };
  return { clock, length, seams: parts.slice(1).map((each) => each.before) };
}

/** Spans `{from, to, waited, ended, error}` in seconds of the run, added up in bins of equal length. */
export function overTime(spans, length, bins = BINS) {
  const step = length / bins || 1;
  const sums = { step };
  for (const name of ["busy", "waiting", "ended", "errors"]) sums[name] = new Float64Array(bins);
  const slopes = { busy: new Float64Array(bins + 1), waiting: new Float64Array(bins + 1) };
  for (const { from, to, waited, ended, error } of spans) {
    const share = to > from ? Math.min(1, waited / (to - from)) : 0;
    spread(from / step, to / step, 1, sums.busy, slopes.busy);
    if (share > 0) spread(from / step, to / step, share, sums.waiting, slopes.waiting);
    const bin = Math.min(bins - 1, Math.floor(to / step));
    if (ended) sums.ended[bin]++;
    if (ended && error) sums.errors[bin]++;
  }
  for (const name of ["busy", "waiting"]) {
    let level = 0;
    for (let bin = 0; bin < bins; bin++) sums[name][bin] += level += slopes[name][bin];
  }
  return sums;
}

/** Add a weight from one place to another: the bins between by their edges, the two at the ends by their part. */
function spread(from, to, weight, sum, slope) {
  const [first, last] = [from, to].map((at) => Math.min(sum.length - 1, Math.floor(at)));
  if (first === last) {
    sum[first] += weight * Math.min(1, to - from);
    return;
  }
  sum[first] += weight * (first + 1 - from);
  sum[last] += weight * Math.min(1, to - last);
  slope[first + 1] += weight;
  slope[last] -= weight;
}

/** Cases in progress, and waiting. */
export function progress({ step, busy, waiting }, { length, seams }) {
  const [height, top, bottom] = [150, 12, 128];
  const most = Math.max(1, ...busy);
  const svg = picture(WIDTH, height, `Cases in progress over the time of the run: at most ${plain(Math.round(most))}`);
  const [x, y] = [scale(0, length, LEFT, RIGHT), scale(0, most, bottom, top)];
  svg.append(...across(ticks(0, most, 3), y, { left: LEFT, right: RIGHT, said: plain }));
  svg.append(shape("path", { class: "area busy", d: area(busy, step, x, y) }));
  if (waiting.some((share) => share > 0)) svg.append(shape("path", { class: "area waiting", d: area(waiting, step, x, y) }));
  svg.append(...marks(seams, x, top, bottom), ...below(ticks(0, length, 6), x, { at: bottom, said: roundSeconds }));
  return svg;
}

/** Cases that ended per second, and errors among them. */
export function throughput({ step, ended, errors }, { length, seams }) {
  const [height, top, bottom] = [120, 12, 98];
  const most = Math.max(...ended) / step || 1;
  const svg = picture(WIDTH, height, `Cases that ended per second: at most ${plain(Number(most.toPrecision(2)))}`);
  const [x, y] = [scale(0, length, LEFT, RIGHT), scale(0, most, bottom, top)];
  const width = Math.max(1, x(step) - x(0) - 0.6);
  svg.append(...across(ticks(0, most, 2), y, { left: LEFT, right: RIGHT, said: plain }));
  for (let bin = 0; bin < ended.length; bin++) {
    for (const [counts, name] of [[ended, "bar"], [errors, "bar error"]]) {
      if (!counts[bin]) continue;
      const at = Math.min(y(counts[bin] / step), bottom - 1);
      svg.append(shape("rect", { class: name, x: x(bin * step) + 0.3, y: at, width, height: bottom - at }));
    }
  }
  svg.append(...marks(seams, x, top, bottom), ...below(ticks(0, length, 6), x, { at: bottom, said: roundSeconds }));
  return svg;
}

function area(heights, step, x, y) {
  const points = [[x(0), y(0)]];
  for (const [bin, height] of heights.entries()) points.push([x(bin * step), y(height)], [x((bin + 1) * step), y(height)]);
  return `${path([...points, [x(heights.length * step), y(0)]])}Z`;
}

function marks(seams, x, top, bottom) {
  return seams.map((at) => shape("line", { class: "seam", x1: x(at), x2: x(at), y1: top, y2: bottom }));
}
