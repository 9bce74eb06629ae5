/** The sheet: what it takes from packs, whole ones and those that tell what has changed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sheet } from "../../../src/paceline/pages/script/parts/sheet.mjs";
import { OUTCOMES, column, sixCases } from "./sheets.mjs";

test("how a row stands follows from outcome and verdict", () => {
  const sheet = sixCases();
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((row) => sheet.standing(row)),
    ["passed", "passed", "failed", "error", "unasserted", "notrun"],
  );
  assert.equal(sheet.outcome(3), "task_error");
});

test("what has changed takes the place of what was there, and rows are added", () => {
  const sheet = sixCases();
  sheet.take({
    head: { rows: 8, outcomes: OUTCOMES, causes: [], repeat: 1 },
    columns: [
      column("", "row", "u32", [3, 6, 7]),
      column("", "case", "text", ["Case 3", "z", "w"]),
      column("", "outcome", "u8", [1, 0, 1]),
      column("", "verdict", "i8", [1, -2, 0]),
      column("", "seconds", "f32", [9, 0, 1]),
      column("assertion", "Equals", "i8", [1, -1, 0]),
      column("score", "Late", "f64", [NaN, NaN, 0.25]),
    ],
  });
  assert.equal(sheet.n, 8);
  assert.deepEqual(
    [3, 6, 7].map((row) => sheet.standing(row)),
    ["passed", "open", "failed"],
  );
  assert.equal(sheet.name(7), "w");
  assert.equal(sheet.at("case")[0], "case 1");
  assert.equal(sheet.column("assertion", "Equals").values[2], 0);
  assert.equal(sheet.column("score", "Late").values[7], 0.25);
  assert.ok(Number.isNaN(sheet.column("score", "Late").values[0]));
});

test("a case that is opened again loses what was said of it", () => {
  const sheet = sixCases();
  sheet.take({
    head: { rows: 6, outcomes: OUTCOMES, causes: [], repeat: 1 },
    columns: [
      column("", "row", "u32", [0]),
      column("", "outcome", "u8", [0]),
      column("", "verdict", "i8", [-2]),
      column("assertion", "Equals", "i8", [-1]),
    ],
  });
  assert.equal(sheet.standing(0), "open");
  assert.equal(sheet.column("assertion", "Equals").values[0], -1);
});

test("a column that few rows have is blank elsewhere", () => {
  const sheet = new Sheet();
  const few = { ...column("score", "Rare", "f64", [0.5]), rows: Uint32Array.of(2) };
  sheet.take({
    head: { rows: 4, outcomes: OUTCOMES, causes: [], repeat: 1 },
    columns: [column("", "case", "text", ["a", "b", "c", "d"]), few],
  });
  assert.deepEqual([...sheet.column("score", "Rare").values], [NaN, NaN, 0.5, NaN]);
});

test("rows of one case and variant are siblings", () => {
  const sheet = new Sheet();
  sheet.take({
    head: { rows: 4, outcomes: OUTCOMES, causes: [], repeat: 2 },
    columns: [
      column("", "case", "text", ["a", "a", "b", "a"]),
      column("", "repeat", "u32", [0, 1, 0, 0]),
      column("", "variant", "u16", [0, 0, 0, 1], { words: ["", "big"] }),
    ],
  });
  assert.deepEqual(sheet.siblings(0), [0, 1]);
  assert.equal(sheet.name(1), "a [2/2]");
  assert.equal(sheet.variant(3), "big");
});
