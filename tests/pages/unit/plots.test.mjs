/** Plots: the numbers behind the pictures. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { logTicks, ticks } from "../../../src/paceline/pages/script/plots/axes.mjs";
import { binned } from "../../../src/paceline/pages/script/plots/histogram.mjs";
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
    assert.equal(
      counts.reduce((a, b) => a + b),
      values.length,
    );
  }
});
