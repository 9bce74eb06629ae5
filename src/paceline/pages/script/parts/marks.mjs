/**
 * Marks: the signs and words by which a page says how something stands, always both, never by colour alone.
 *
 * Knows standings and states. Knows nothing of where they are shown.
 */

import { element, foreign } from "./dom.mjs";
import { plain } from "./numbers.mjs";

/** How a case stands: sign, word, and the word for many. */
export const STANDING = {
  passed: { sign: "✓", word: "passed" },
  failed: { sign: "✕", word: "failed" },
  error: { sign: "!", word: "error" },
  unasserted: { sign: "○", word: "no assertion" },
  notrun: { sign: "–", word: "not run" },
  open: { sign: "…", word: "in progress" },
};

/** What outcomes mean, in words. */
export const OUTCOME = {
  scored: "scored",
  task_error: "the task raised an error",
  timeout: "timed out",
  infra_error: "infrastructure failed",
  evaluator_error: "an evaluator could not say",
  skipped_budget: "skipped: out of budget",
  cancelled: "cancelled",
};

/** A small sign with its word for those who do not see it. */
export function mark(standing) {
  const { sign, word } = STANDING[standing];
  return element("span", { class: `mark ${standing}`, role: "img", "aria-label": word, title: word }, sign);
}

/** A sign and a word. */
export function badge(standing, text = STANDING[standing].word) {
  return element(
    "span",
    { class: `badge ${standing}` },
    element("span", { "aria-hidden": "true" }, `${STANDING[standing].sign} `),
    text,
  );
}

/** What an evaluator said: a tick or a cross, a number, a word. */
export function verdict(value) {
  if (value === true)
    return element("span", { class: "yes" }, element("span", { "aria-hidden": "true" }, "✓ "), "true");
  if (value === false)
    return element("span", { class: "no" }, element("span", { "aria-hidden": "true" }, "✕ "), "false");
  return typeof value === "string"
    ? element("span", { class: "label" }, foreign(value))
    : element("span", { class: "number", title: String(value) }, plain(value));
}
