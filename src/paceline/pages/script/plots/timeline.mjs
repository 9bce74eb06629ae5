/**
 * The timeline: cases in progress, and how much of that was waiting; cases that ended per second, and those of
 * them that ended in an error.
 *
 * Drawn as the report has it, `{step_s, in_progress, waiting, ended, errors, starts}`: in equal steps of the
 * time of the run, with what lies between two processes cut out, and a line in its place.
 */

import { shape } from "../parts/dom.mjs";
import { plain, roundSeconds } from "../parts/numbers.mjs";
import { across, below, path, picture, scale, ticks } from "./axes.mjs";

const [WIDTH, LEFT, RIGHT] = [640, 46, 616];
/** Cases in progress, and waiting. */
export function progress({ step_s: step, in_progress: busy, waiting, starts }) {
  const [length, seams] = [step * busy.length, starts.slice(1)];
  const [height, top, bottom] = [150, 12, 128];
  const most = Math.max(1, ...busy);
  const svg = picture(
    WIDTH,
    height,
    `Cases in progress over the time of the run: at most ${plain(Math.round(most))}`,
  );
  const [x, y] = [scale(0, length, LEFT, RIGHT), scale(0, most, bottom, top)];
  svg.append(...across(ticks(0, most, 3), y, { left: LEFT, right: RIGHT, said: plain }));
  svg.append(shape("path", { class: "area busy", d: area(busy, step, x, y) }));
  if (waiting.some((share) => share > 0))
    svg.append(shape("path", { class: "area waiting", d: area(waiting, step, x, y) }));
  svg.append(
    ...marks(seams, x, top, bottom),
    ...below(ticks(0, length, 6), x, { at: bottom, said: roundSeconds }),
  );
  return svg;
}

/** Cases that ended per second, and errors among them. */
export function throughput({ step_s: step, ended, errors, starts }) {
  const [length, seams] = [step * ended.length, starts.slice(1)];
  const [height, top, bottom] = [120, 12, 98];
  const most = Math.max(...ended) / step || 1;
  const svg = picture(
    WIDTH,
    height,
    `Cases that ended per second: at most ${plain(Number(most.toPrecision(2)))}`,
  );
  const [x, y] = [scale(0, length, LEFT, RIGHT), scale(0, most, bottom, top)];
  const width = Math.max(1, x(step) - x(0) - 0.6);
  svg.append(...across(ticks(0, most, 2), y, { left: LEFT, right: RIGHT, said: plain }));
  for (let bin = 0; bin < ended.length; bin++) {
    for (const [counts, name] of [
      [ended, "bar"],
      [errors, "bar error"],
    ]) {
      if (!counts[bin]) continue;
      const at = Math.min(y(counts[bin] / step), bottom - 1);
      svg.append(shape("rect", { class: name, x: x(bin * step) + 0.3, y: at, width, height: bottom - at }));
    }
  }
  svg.append(
    ...marks(seams, x, top, bottom),
    ...below(ticks(0, length, 6), x, { at: bottom, said: roundSeconds }),
  );
  return svg;
}

function area(heights, step, x, y) {
  const points = [[x(0), y(0)]];
  for (const [bin, height] of heights.entries())
    points.push([x(bin * step), y(height)], [x((bin + 1) * step), y(height)]);
  return `${path([...points, [x(heights.length * step), y(0)]])}Z`;
}

function marks(seams, x, top, bottom) {
  return seams.map((at) => shape("line", { class: "seam", x1: x(at), x2: x(at), y1: top, y2: bottom }));
}
