/** Foreign text: what would disturb a page is shown as an escape. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, parsed, shown, unwrapped } from "../../../src/paceline/pages/script/parts/values.mjs";
import { harmless, segments } from "../../../src/paceline/pages/script/parts/text.mjs";

test("controls, direction marks and half surrogates are escapes; line ends and emoji are not", () => {
  assert.equal(
    harmless("a\u202eb\x1b[31m\ud800c\u0000\n\té👩\u200d🚀"),
    "a\\u202eb\\x1b[31m\\ud800c\\x00\n\té👩\u200d🚀",
  );
  assert.equal(harmless("\u{e0041}"), "\\U000e0041");
});

test("segments keep all of a text", () => {
  assert.deepEqual(segments("a\u202eb"), [
    { text: "a", escaped: false },
    { text: "\\u202e", escaped: true },
    { text: "b", escaped: false },
  ]);
  assert.deepEqual(segments(""), []);
});

test("a value of Python is shown as its content, with its type", () => {
  const value = { $paceline: { types: { "": "suite:Visit", "/on": "date" } }, value: { who: "Ann" } };
  assert.deepEqual(unwrapped(value), { content: { who: "Ann" }, type: "suite:Visit" });
  assert.equal(shown(value), '{"who": "Ann"}');
  assert.equal(brief(value), "Ann");
});

test("strings are shown as they are, long values on lines of their own", () => {
  assert.equal(shown("a\nb"), "a\nb");
  assert.equal(shown([1, null, true]), "[1, null, true]");
  assert.equal(
    shown({ list: ["x".repeat(50), "y".repeat(50)] }),
    `{\n  "list": [\n    "${"x".repeat(50)}",\n    "${"y".repeat(50)}"\n  ]\n}`,
  );
  assert.equal(shown(null), "null");
});

test("what is written can be read again, however it is broken into lines", () => {
  const value = { a: [1, [2, { b: "x".repeat(90), c: [] }]], d: {}, e: 'é"\\\n', f: -1.5e-7 };
  assert.deepEqual(JSON.parse(shown(value)), value);
});

test(
  "an integer that no float holds keeps its digits, where the browser tells them",
  { skip: !("rawJSON" in JSON) },
  () => {
    assert.equal(shown(parsed('{"id": 12345678901234567890}')), '{"id": 12345678901234567890}');
  },
);

test("a cell shows one line of a value, and not the whole of a big one", () => {
  assert.equal(brief("a\n b", 10), "a b");
  assert.equal(brief({ question: "why?" }), "why?");
  assert.equal(brief({ q: 1, r: [2] }), '{"q": 1, "r": [2]}');
  assert.ok(
    brief(
      Array.from({ length: 1e5 }, (_, n) => n),
      50,
    ).length <= 51,
  );
});
