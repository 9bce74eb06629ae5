/** Differences: what both halves say put together, and what a reader would call the same. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "../../../src/paceline/pages/script/parts/diff.mjs";
import { seeded } from "./chance.mjs";

const joined = (parts, op) =>
  parts
    .filter((part) => part.op === "same" || part.op === op)
    .map(({ text }) => text)
    .join("");

test("what is the same or gone is the one text, what is the same or new is the other, to the letter", () => {
  const chance = seeded(1);
  const alphabet = ["a", "b", " ", "\n", "é", "😀", "1", ",", "the", "\t"];
  for (let round = 0; round < 2000; round++) {
    const text = () => Array.from({ length: chance(40) }, () => alphabet[chance(alphabet.length)]).join("");
    const [before, after] = [text(), text()];
    const parts = difference(before, after);
    assert.equal(joined(parts, "gone"), before);
    assert.equal(joined(parts, "new"), after);
    assert.ok(parts.every(({ text: said }) => said !== ""));
    assert.ok(
      parts.every(({ op }, place) => op !== parts[place - 1]?.op),
      "neighbours of one kind are one part",
    );
  }
});

test("a changed word is marked, and its sentence is not", () => {
  assert.deepEqual(difference("The capital is Rome.", "The capital is Paris."), [
    { op: "same", text: "The capital is " },
    { op: "gone", text: "Rome" },
    { op: "new", text: "Paris" },
    { op: "same", text: "." },
  ]);
});

test("an inserted line leaves the lines around it as they are", () => {
  assert.deepEqual(difference("one\ntwo\nthree\n", "one\ntwo\nand a half\nthree\n"), [
    { op: "same", text: "one\ntwo\n" },
    { op: "new", text: "and a half\n" },
    { op: "same", text: "three\n" },
  ]);
});

test("equal texts have no difference, and empty ones nothing at all", () => {
  assert.deepEqual(difference("same", "same"), [{ op: "same", text: "same" }]);
  assert.deepEqual(difference("", ""), []);
  assert.deepEqual(difference("", "new"), [{ op: "new", text: "new" }]);
});

test("the script is as short as it can be", () => {
  const chance = seeded(2);
  for (let round = 0; round < 300; round++) {
    const lines = () => Array.from({ length: chance(9) }, () => `${"abc"[chance(3)]}\n`);
    const [before, after] = [lines(), lines()];
    const parts = difference(before.join(""), after.join(""));
    const kept = parts
      .filter(({ op }) => op === "same")
      .reduce((sum, { text }) => sum + (text.match(/[abc]/g) ?? []).length, 0);
    assert.ok(kept >= longestCommon(before, after), `${before} ${after}`);
  }
});

function longestCommon(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let x = 1; x <= a.length; x++) {
    for (let y = 1; y <= b.length; y++) {
      table[x][y] =
        a[x - 1] === b[y - 1] ? table[x - 1][y - 1] + 1 : Math.max(table[x - 1][y], table[x][y - 1]);
    }
  }
  return table[a.length][b.length];
}

test("texts that have nothing in common are told apart as a whole, soon", () => {
  const chance = seeded(3);
  const text = (letters) => Array.from({ length: 20_000 }, () => letters[chance(letters.length)]).join(" ");
  const [before, after] = [text("abcdefgh"), text("stuvwxyz")];
  const began = performance.now();
  assert.deepEqual(
    difference(before, after).map(({ op }) => op),
    ["gone", "new"],
  );
  assert.ok(performance.now() - began < 5000);
});
