/**
 * The page of one case: what was asked, what came back, what was said of it, and how it went.
 *
 * Knows one body and the row of its sheet. How to come here and where to go on is for the program to say.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { OUTCOME, STANDING, badge, mark, verdict } from "../parts/marks.mjs";
import { count, seconds } from "../parts/numbers.mjs";
import { cell, row as tableRow, table } from "../parts/tables.mjs";
import { parsed, unwrapped } from "../parts/values.mjs";
import { conversation } from "./conversation.mjs";
import { calls, timing, tries } from "./effort.mjs";
import { comparison, longText, panel, patch } from "./texts.mjs";

/** A body as an object, by the names that its layout gives to places. */
export function opened(text, layout) {
  const named = (name, places) => Object.fromEntries(layout[name].map((key, place) => [key, places[place]]));
  const [texts, rest] = text.split("\t");
  const body = { ...named("texts", parsed(texts)), ...named("rest", parsed(rest)) };
  return {
    ...body,
    error: body.error && named("error", body.error),
    results: body.results.map((each, place) => ({ ...named("result", each), reason: body.reasons[place] })),
    failures: body.failures.map((each) => named("failure", each)),
    tries: body.tries.map((each) => named("try", each)),
    calls: body.calls.map((each) => named("call", each)),
  };
}

/** All of it, from a body that was opened. */
export function casePage(sheet, row, body, { place }) {
  return element(
    "article",
    { class: "case", "aria-labelledby": "case-name" },
    top(sheet, row, place),
    body.error ? failure("Error", body.error) : null,
    body.failures.map((each) => failure(`${each.by} could not say`, each)),
    results(body.results),
    element("div", { class: "panels" }, texts(body)),
    timing(sheet, row),
    body.patch && body.patch !== body.output ? patch("Patch", body.patch, body.cut.patch) : null,
    tries(body.tries),
    Array.isArray(body.trajectory) && body.trajectory.length ? conversation(body.trajectory) : null,
    calls(body),
    element("div", { class: "panels" }, extras(body)),
  );
}

function top(sheet, row, { at, of }) {
  const standing = sheet.standing(row);
  const outcome = sheet.outcome(row);
  const variant = sheet.variant(row);
  const facts = [
    outcome && outcome !== "scored" ? (OUTCOME[outcome] ?? outcome) : null,
    variant ? `variant ${variant}` : null,
    at > 0 ? `${count(at)} of ${count(of)}` : null,
  ].filter(Boolean);
  return element(
    "header",
    { class: "case-top" },
    element("h1", { id: "case-name", tabindex: -1 }, foreign(sheet.name(row))),
    element(
      "p",
      {},
      badge(standing, STANDING[standing].word),
      " ",
      element("span", { class: "quiet" }, foreign(facts.join(" · "))),
    ),
    siblings(sheet, row),
  );
}

/** The other tries of a case that is repeated. */
function siblings(sheet, row) {
  const rows = sheet.head.repeat > 1 ? sheet.siblings(row) : [];
  if (rows.length < 2) return null;
  const links = rows.map((other) => {
    const number = (sheet.at("repeat")?.[other] ?? 0) + 1;
    return element(
      "a",
      { href: `#/case/${other}`, class: "sibling", "aria-current": other === row ? "page" : null },
      mark(sheet.standing(other)),
      ` ${number}`,
    );
  });
  return element("nav", { class: "siblings", "aria-label": "Repeats" }, "Repeats ", links);
}

function failure(title, { type, message, trace, stage }) {
  const box = element(
    "div",
    { class: "panel wide failure" },
    element(
      "h2",
      {},
      foreign(title),
      stage && stage !== "task" ? element("span", { class: "quiet" }, foreign(` in ${stage}`)) : null,
    ),
  );
  append(
    box,
    element(
      "p",
      { class: "bad" },
      element("strong", {}, foreign(type)),
      message ? ": " : "",
      foreign(message ?? ""),
    ),
  );
  if (trace) append(box, element("details", {}, element("summary", {}, "Traceback"), longText(trace)));
  return box;
}

function results(found) {
  if (!found.length) return null;
  const rows = found.map(({ name, value, reason, by, seconds: took }) => {
    const who = by && by !== name ? element("span", { class: "quiet" }, foreign(` by ${by}`)) : null;
    const why = reason ? longText(reason, "inline") : "";
    return tableRow(
      [foreign(name), who],
      verdict(value),
      cell(why, "reason"),
      cell(took ? seconds(took) : "", "quiet number"),
    );
  });
  return element(
    "div",
    { class: "panel wide" },
    element("h2", {}, "Scores"),
    table(["Result", "", "Reason", "Took"], rows, "results"),
  );
}

function texts(body) {
  const inputs = panel("Inputs", body.inputs, { cut: body.cut.inputs });
  inputs.classList.add("wide");
  const given = body.output !== null && body.output !== undefined;
  // What an agent on a workspace answers is its patch, unless it was told to answer otherwise.
  if (given && body.output === body.patch) return [inputs, patch("Output", body.patch, body.cut.patch)];
  if (body.expected === null)
    return [inputs, given ? wide(panel("Output", body.output, { cut: body.cut.output })) : null];
  if (!given) return [inputs, wide(panel("Expected", body.expected, { cut: body.cut.expected }))];
  return [inputs, comparison(body.expected, body.output, body.cut)];
}

function wide(node) {
  node.classList.add("wide");
  return node;
}

function extras({ metadata, attributes, metrics, cut }) {
  const empty = (value) => {
    const { content } = unwrapped(value);
    return (
      content === null ||
      content === undefined ||
      (typeof content === "object" && !Object.keys(content).length)
    );
  };
  return [
    ["Metadata", metadata, cut.metadata],
    ["Metrics", metrics],
    ["Attributes", attributes, cut.attributes],
  ]
    .filter(([, value]) => !empty(value))
    .map(([title, value, of]) => panel(title, value, { cut: of }));
}
