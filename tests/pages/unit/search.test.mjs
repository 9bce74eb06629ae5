/** Search in texts: a row for each line, wherever in it the word stands. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Search } from "../../../src/paceline/pages/script/parts/search.mjs";
import { seeded } from "./chance.mjs";

const rows = (mask) => [...mask.entries()].filter(([, one]) => one).map(([row]) => row);
const everywhere = (n) => new Uint8Array(n).fill(1);

test("a word is found in names and in texts, large or small", () => {
  const search = new Search();
  search.name(["Rome", "Oslo", "Bonn"]);
  search.add(0, '["What is in Italy?"]\n["ROME is not"]\n["nothing"]');
  assert.deepEqual(rows(search.find("rome", everywhere(3))), [0, 1]);
});

test("what JSON writes as an escape is found as what it is", () => {
  const search = new Search();
  search.add(0, `${JSON.stringify(['say "yes"\nnow'])}\n${JSON.stringify(["C:\\temp"])}`);
  assert.deepEqual(rows(search.find('"yes"', everywhere(2))), [0]);
  assert.deepEqual(rows(search.find('yes"\nnow', everywhere(2))), [0]);
  assert.deepEqual(rows(search.find("C:\\temp", everywhere(2))), [1]);
});

test("what stands behind a tab is not searched", () => {
  const search = new Search();
  search.add(0, '["a"]\t["b"]\n["b"]\t["a"]');
  assert.deepEqual(rows(search.find("a", everywhere(2))), [0]);
  assert.deepEqual(rows(search.find("b", everywhere(2))), [1]);
});

test("rows that are no longer asked about are not found", () => {
  const search = new Search();
  search.add(0, "a\na\na");
  assert.deepEqual(rows(search.find("a", Uint8Array.of(0, 1, 0))), [1]);
});

test("chunks may come in any order, and once more", () => {
  const search = new Search();
  search.add(2, "x\ny");
  search.add(0, "y\nx");
  search.add(2, "z\ny");
  assert.deepEqual(rows(search.find("x", everywhere(4))), [1]);
  assert.deepEqual(rows(search.find("y", everywhere(4))), [0, 3]);
});

test("it finds what looking at each line by itself would find", () => {
  const chance = seeded(5);
  for (let round = 0; round < 400; round++) {
    const lines = Array.from({ length: chance(30) + 1 }, () =>
      Array.from({ length: chance(6) }, () => "ab"[chance(2)]).join(""),
    );
    const word = Array.from({ length: chance(3) + 1 }, () => "ab"[chance(2)]).join("");
    const search = new Search();
    const cut = chance(lines.length);
    search.add(0, lines.slice(0, cut + 1).join("\n"));
    if (cut + 1 < lines.length) search.add(cut + 1, lines.slice(cut + 1).join("\n"));
    const wanted = [...lines.entries()].filter(([, line]) => line.includes(word)).map(([row]) => row);
    assert.deepEqual(rows(search.find(word, everywhere(lines.length))), wanted);
  }
});
