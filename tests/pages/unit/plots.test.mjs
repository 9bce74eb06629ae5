/** Plots: the numbers behind the pictures. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { logTicks, ticks } from "../../../src/paceline/pages/script/plots/axes.mjs";
import { binned } from "../../../src/paceline/pages/script/plots/histogram.mjs";
import { overTime, runClock } from "../../../src/paceline/pages/script/plots/timeline.mjs";
import { seeded } from "./chance.mjs";

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(3, 3), [3]);
  assert.deepEqual(logTicks(0.5, 20), [0.5, 1, 2, 5, 10, 20]);
});

test("every value is in one bin", () => {
  const chance = seeded(9);
  for (let round = 0; round < 200; round++) {
    const values = Array.from({ length: chance(200) + 1 }, () => chance(1e6) / 10 ** chance(7));
    const { counts } = binned(values);
    assert.equal(counts.reduce((a, b) => a + b), values.length);
  }
});

test("pauses between processes are no time of the run", () => {
  const { clock, length, seams } = runClock([[100, 110], [500, 505]]);
  assert.deepEqual([clock(100), clock(105), clock(110), clock(300), clock(500), clock(503), clock(900)], [0, 5, 10, 10, 10, 13, 15]);
  assert.equal(length, 15);
  assert.deepEqual(seams, [10]);
});

test("what the bins hold is what the spans last, wherever they lie", () => {
  const chance = seeded(11);
  for (let round = 0; round < 200; round++) {
    const spans = Array.from({ length: chance(20) + 1 }, () => {
      const from = chance(1000) / 10;
      const to = Math.min(100, from + chance(400) / 10);
      return { from, to, waited: (to - from) / 2, ended: true, error: chance(2) === 0 };
    });
    const { busy, waiting, ended, errors, step } = overTime(spans, 100, 37);
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const lasted = sum(spans.map(({ from, to }) => to - from));
    assert.ok(Math.abs(sum(busy) * step - lasted) < 1e-6, `${sum(busy) * step} ${lasted}`);
    assert.ok(Math.abs(sum(waiting) * step - lasted / 2) < 1e-6);
    assert.equal(sum(ended), spans.length);
    assert.equal(sum(errors), spans.filter(({ error }) => error).length);
  }
});

test("one case throughout is one case in progress in every bin", () => {
  const { busy } = overTime([{ from: 0, to: 10, waited: 0, ended: true, error: false }], 10, 5);
  assert.deepEqual([...busy], [1, 1, 1, 1, 1]);
});
