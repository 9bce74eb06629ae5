/** Slices: which fields make sense, and what counts in them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { figures, sliceable, slices } from "../../../src/paceline/pages/script/parts/slices.mjs";
import { column, sixCases } from "./sheets.mjs";

test("failures count as failures, and what was not run or asserts nothing is counted apart", () => {
  const found = figures(sixCases(), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(
    [found.passed, found.failed, found.error, found.unasserted, found.notrun],
    [2, 1, 1, 1, 1],
  );
  assert.equal(found.of, 4);
  assert.equal(found.rate, 0.5);
  assert.ok(found.bounds.low < 0.5 && found.bounds.high > 0.5);
});

test("where nothing is asserted there is no rate", () => {
  const found = figures(sixCases(), [4, 5]);
  assert.equal(found.rate, null);
  assert.equal(found.bounds, null);
});

test("each value is a slice, the largest first, and having none is one too", () => {
  const sheet = sixCases();
  const found = slices(sheet, sheet.column("metadata", "topic"));
  assert.deepEqual(
    found.map(({ word, n }) => [word, n]),
    [
      ["", 2],
      ["algebra", 2],
      ["number theory", 2],
    ],
  );
});

test("a field that says something else of each case, or the same of all, is none to slice by", () => {
  const each = column("metadata", "id", "u16", [1, 2, 3, 4, 5, 6], { words: ["", ..."abcdef"] });
  const same = column("metadata", "kind", "u16", [1, 1, 1, 1, 1, 1], { words: ["", "x"] });
  const many = column("metadata", "score", "f64", [1, 2, 3, 4, 5, 6]);
  const names = sliceable(sixCases([each, same, many])).map(({ name }) => name);
  assert.deepEqual(names, ["topic", "level"]);
});
