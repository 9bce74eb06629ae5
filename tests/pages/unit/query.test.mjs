/** Questions: how they are written, and which rows answer them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fields, masked, parsed, written } from "../../../src/paceline/pages/script/parts/query.mjs";
import { column, sixCases } from "./sheets.mjs";

const rows = (sheet, question) =>
  [...masked(sheet, parsed(question)).mask.entries()].filter(([, one]) => one).map(([row]) => row);

test("a question is words, fields, and their opposites", () => {
  assert.deepEqual(parsed('paris -london is:failed Similarity<0.5 topic:"number theory" "two words"'), [
    { word: "paris", not: false },
    { word: "london", not: true },
    { field: "is", op: ":", value: "failed", not: false },
    { field: "Similarity", op: "<", value: "0.5", not: false },
    { field: "topic", op: ":", value: "number theory", not: false },
    { word: "two words", not: false },
  ]);
});

test("what is written can be read again", () => {
  for (const question of [
    "a -b is:failed",
    '"x y" -"a:b" "my field">=2',
    'topic:"number theory"',
    "a<=3 b>=4 c=5",
  ]) {
    assert.deepEqual(parsed(written(parsed(question))), parsed(question), question);
  }
});

test("half a question that is being typed is no error", () => {
  for (const half of ['"', "-", ":", "is:", 'topic:"num', "<", "a<", '-"', "a:b:c", "::", "<>="]) {
    assert.doesNotThrow(() => masked(sixCases(), parsed(half)), half);
  }
  assert.deepEqual(parsed("time<"), [{ word: "time<", not: false }]);
});

test("a status is asked for by its word", () => {
  const sheet = sixCases();
  assert.deepEqual(rows(sheet, "is:passed"), [0, 1]);
  assert.deepEqual(rows(sheet, "is:failed"), [2]);
  assert.deepEqual(rows(sheet, "is:error"), [3]);
  assert.deepEqual(rows(sheet, "is:unasserted"), [4]);
  assert.deepEqual(rows(sheet, "is:notrun"), [5]);
  assert.deepEqual(rows(sheet, "is:unpassed"), [2, 3]);
  assert.deepEqual(rows(sheet, "-is:passed"), [2, 3, 4, 5]);
  assert.deepEqual(rows(sheet, "outcome:task_error"), [3]);
});

test("an evaluator's results are asked for by its name", () => {
  const sheet = sixCases();
  assert.deepEqual(rows(sheet, "Equals:false"), [2]);
  assert.deepEqual(rows(sheet, "Equals:none"), [3, 4, 5]);
  assert.deepEqual(rows(sheet, "Similarity>=0.5"), [0, 2]);
  assert.deepEqual(rows(sheet, "Similarity:none"), [3, 4, 5]);
});

test("a case that has no number is in neither half", () => {
  const sheet = sixCases();
  assert.deepEqual(rows(sheet, "Similarity<2"), [0, 1, 2]);
  assert.deepEqual(rows(sheet, "Similarity>=-2"), [0, 1, 2]);
});

test("metadata is asked for by word, and compared where it is numbers", () => {
  const sheet = sixCases();
  assert.deepEqual(rows(sheet, 'topic:"number theory"'), [1, 3]);
  assert.deepEqual(rows(sheet, "topic:none"), [4, 5]);
  assert.deepEqual(rows(sheet, "level>3"), [1, 2, 4]);
  assert.deepEqual(rows(sheet, "level:10"), [1, 2]);
  assert.deepEqual(rows(sheet, "topic:algebra level:10"), [2]);
});

test("a field that there is none of is said, and answers nothing", () => {
  const { mask, unknown } = masked(sixCases(), parsed("colour:red"));
  assert.deepEqual(unknown, ["colour"]);
  assert.ok(mask.every((one) => one === 0));
});

test("two columns of one name are told apart by their group", () => {
  const sheet = sixCases([
    column("label", "topic", "u16", [1, 0, 0, 0, 0, 0], { words: ["", "logic"], by: "Judge" }),
  ]);
  assert.deepEqual(
    fields(sheet)
      .map(({ field }) => field)
      .filter((field) => field.endsWith("topic")),
    ["label.topic", "metadata.topic"],
  );
  assert.deepEqual(rows(sheet, "label.topic:logic"), [0]);
  assert.deepEqual(rows(sheet, "metadata.topic:algebra"), [0, 2]);
});

test("a column that is called like one of ours does not take its place", () => {
  const sheet = sixCases([column("metadata", "is", "u16", [1, 1, 1, 1, 1, 1], { words: ["", "passed"] })]);
  assert.deepEqual(rows(sheet, "is:passed"), [0, 1]);
  assert.deepEqual(rows(sheet, "metadata.is:passed"), [0, 1, 2, 3, 4, 5]);
});
