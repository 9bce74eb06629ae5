/** Sheets made by hand, for tests of what is asked of them. */

import { Sheet } from "../../../src/paceline/pages/script/parts/sheet.mjs";

const ARRAYS = {
  i8: Int8Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
};
export const OUTCOMES = [
  "scored",
  "task_error",
  "timeout",
  "infra_error",
  "evaluator_error",
  "skipped_budget",
  "cancelled",
];

/** A column as a pack has it. */
export function column(group, name, kind, values, said = {}) {
  return {
    group,
    name,
    kind,
    values: kind === "text" ? values : ARRAYS[kind].from(values),
    rows: null,
    ...said,
  };
}

/** Six cases: two passed, one failed, one error, one without assertion, one not run. */
export function sixCases(more = [], head = {}) {
  const sheet = new Sheet();
  sheet.take({
    head: { rows: 6, outcomes: OUTCOMES, causes: [], repeat: 1, ...head },
    columns: [
      column("", "case", "text", ["case 1", "case 2", "case 10", "Case 3", "x", "y"]),
      column("", "outcome", "u8", [1, 1, 1, 2, 1, 7]),
      column("", "verdict", "i8", [1, 1, 0, -2, -1, -2]),
      column("", "seconds", "f32", [1, 2, 3, 0.5, 4, 0]),
      column("assertion", "Equals", "i8", [1, 1, 0, -1, -1, -1], { by: "Equals" }),
      column("score", "Similarity", "f64", [0.9, 0.1, 0.5, NaN, NaN, NaN], { by: "Similarity" }),
      column("metadata", "topic", "u16", [1, 2, 1, 2, 0, 0], { words: ["", "algebra", "number theory"] }),
      column("metadata", "level", "u16", [1, 2, 2, 1, 3, 0], { words: ["", "2", "10", "7"], numeric: true }),
      ...more,
    ],
  });
  return sheet;
}
