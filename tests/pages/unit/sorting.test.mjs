/** Orders of rows. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { keysOf, ordered } from "../../../src/paceline/pages/script/parts/sorting.mjs";
import { sixCases } from "./sheets.mjs";

const all = Uint32Array.of(0, 1, 2, 3, 4, 5);
const by = (group, name, descending = false) => {
  const sheet = sixCases();
  return [...ordered(all, keysOf(sheet, sheet.column(group, name)), descending)];
};

test("names are in the order that people expect of numbers in them", () => {
  assert.deepEqual(by("", "case"), [0, 1, 3, 2, 4, 5]);
});

test("what has no value comes last, whichever way round", () => {
  assert.deepEqual(by("score", "Similarity"), [1, 2, 0, 3, 4, 5]);
  assert.deepEqual(by("score", "Similarity", true), [0, 2, 1, 3, 4, 5]);
  assert.deepEqual(by("assertion", "Equals"), [2, 0, 1, 3, 4, 5]);
  assert.deepEqual(by("metadata", "topic"), [0, 2, 1, 3, 4, 5]);
});

test("words that are numbers are in the order of numbers", () => {
  assert.deepEqual(by("metadata", "level"), [0, 3, 4, 1, 2, 5]);
});

test("equal rows stay in the order of the run", () => {
  assert.deepEqual([...ordered(all, Float64Array.of(1, 0, 1, 0, 1, 0), true)], [0, 2, 4, 1, 3, 5]);
});
