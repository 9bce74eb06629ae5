/**
 * The page of one case: what was asked, what came back, what was said of it, and how it went.
 *
 * Knows one body and the row of its sheet. How to come here and where to go on is for the program to say.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { OUTCOME, STANDING, badge, mark, verdict } from "../parts/marks.mjs";
import { count, counted, dollars, moment, seconds } from "../parts/numbers.mjs";
import { cell, row as tableRow, table } from "../parts/tables.mjs";
import { parsed, unwrapped } from "../parts/values.mjs";
import { conversation } from "./conversation.mjs";
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
    outcome && outcome !== "scored" ? OUTCOME[outcome] ?? outcome : null,
    variant ? `variant ${variant}` : null,
    at > 0 ? `${count(at)} of ${count(of)}` : null,
  ].filter(Boolean);
  return element(
    "header",
    { class: "case-top" },
    element("h1", { id: "case-name", tabindex: -1 }, foreign(sheet.name(row))),
    element("p", {}, badge(standing, STANDING[standing].word), " ", element("span", { class: "quiet" }, foreign(facts.join(" · ")))),
    siblings(sheet, row),
  );
}

/** The other tries of a case that is repeated. */
function siblings(sheet, row) {
  const rows = sheet.head.repeat > 1 ? sheet.siblings(row) : [];
  if (rows.length < 2) return null;
  const links = rows.map((other) => {
    const number = (sheet.at("repeat")?.[other] ?? 0) + 1;
    return element("a", { href: `#/case/${other}`, class: "sibling", "aria-current": other === row ? "page" : null }, mark(sheet.standing(other)), ` ${number}`);
  });
  return element("nav", { class: "siblings", "aria-label": "Repeats" }, "Repeats ", links);
}

function failure(title, { type, message, trace, stage }) {
  const box = element("div", { class: "panel wide failure" }, element("h2", {}, foreign(title), stage && stage !== "task" ? element("span", { class: "quiet" }, foreign(` in ${stage}`)) : null));
  append(box, element("p", { class: "bad" }, element("strong", {}, foreign(type)), message ? ": " : "", foreign(message ?? "")));
  if (trace) append(box, element("details", {}, element("summary", {}, "Traceback"), longText(trace)));
  return box;
}

function results(found) {
  if (!found.length) return null;
  const rows = found.map(({ name, value, reason, by, seconds: took }) => {
    const who = by && by !== name ? element("span", { class: "quiet" }, foreign(` by ${by}`)) : null;
    const why = reason ? longText(reason, "inline") : "";
    return tableRow([foreign(name), who], verdict(value), cell(why, "reason"), cell(took ? seconds(took) : "", "quiet number"));
  });
  return element("div", { class: "panel wide" }, element("h2", {}, "Scores"), table(["Result", "", "Reason", "Took"], rows, "results"));
}

function texts(body) {
  const inputs = panel("Inputs", body.inputs, { cut: body.cut.inputs });
  inputs.classList.add("wide");
  const given = body.output !== null && body.output !== undefined;
  // What an agent on a workspace answers is its patch, unless it was told to answer otherwise.
  if (given && body.output === body.patch) return [inputs, patch("Output", body.patch, body.cut.patch)];
  if (body.expected === null) return [inputs, given ? wide(panel("Output", body.output, { cut: body.cut.output })) : null];
  if (!given) return [inputs, wide(panel("Expected", body.expected, { cut: body.cut.expected }))];
  return [inputs, comparison(body.expected, body.output, body.cut)];
}

function wide(node) {
  node.classList.add("wide");
  return node;
}

/** Where the time of a case went. */
function timing(sheet, row) {
  const [took, total, waited] = ["seconds", "total", "waited"].map((name) => sheet.at(name)?.[row] || 0);
  if (!took && !total) return null;
  const rest = Math.max(0, total - took - waited);
  const parts = [["work", took, "working"], ["wait", waited, "waiting for limits and between tries"], ["rest", rest, "scoring, setup and other tries"]].filter(([, spent]) => spent > 0.0005);
  const bar = element("div", { class: "stack thin", "aria-hidden": "true" });
  for (const [name, spent] of parts) {
    const piece = element("span", { class: name });
    piece.style.flexGrow = 1000 * spent;
    bar.append(piece);
  }
  const said = parts.map(([name, spent, what]) => element("li", {}, element("span", { class: `key ${name}`, "aria-hidden": "true" }), `${seconds(spent)} ${what}`));
  const when = element("li", { class: "quiet" }, `ended ${moment(sheet.head.began + sheet.at("ended")[row])}`);
  return element("div", { class: "panel wide" }, element("h2", {}, "Time ", element("span", { class: "quiet" }, seconds(Math.max(total, took + waited)))), bar, element("ul", { class: "legend" }, said, when));
}

function tries(found) {
  if (!found.length) return null;
  const items = found.map(({ attempt, at, outcome, type, message, trace, seconds: took, waited, retry_in: again }) => {
    const facts = [outcome, seconds(took), waited ? `waited ${seconds(waited)}` : "", again ? `tried again after ${seconds(again)}` : "", moment(at)].filter(Boolean);
    const why = type || message ? element("p", { class: "bad" }, element("strong", {}, foreign(type)), message ? ": " : "", foreign(message)) : null;
    return element("li", {}, element("strong", {}, `Try ${attempt}`), element("span", { class: "quiet" }, foreign(` ${facts.join(" · ")}`)), why, trace ? element("details", {}, element("summary", {}, "Traceback"), longText(trace)) : null);
  });
  return element("div", { class: "panel wide" }, element("h2", {}, "Earlier tries"), element("ol", { class: "tries" }, items));
}

const NOTABLE = 0.001; // seconds; everybody waits for a moment
const CALL_COLUMNS = ["#", "Pool", "Status", "Tokens in", "cached", "out", "Cost", "First token", "Time", "Waited", "Sent"];

function calls({ calls: made, cut }) {
  if (!made.length) return null;
  const known = (value, said) => (value === null || value === undefined ? "unknown" : said(value));
  const rows = made.map((call) => {
    const how = [call.outcome === "ok" ? "" : call.outcome, call.cause, call.replayed ? "replayed" : "", call.simulated ? "simulated" : "", call.by ? `by ${call.by}` : ""].filter(Boolean).join(", ");
    const status = [call.status ?? "", how ? element("span", { class: call.outcome === "ok" ? "quiet" : "bad" }, foreign(` ${how}`)) : null];
    const numbers = [
      known(call.input_tokens, count), call.cached_tokens ? count(call.cached_tokens) : "", known(call.output_tokens, count),
      known(call.price, dollars), call.first_token === null ? "" : seconds(call.first_token), seconds(call.seconds),
      call.waited >= NOTABLE ? seconds(call.waited) : "", call.tries > 1 ? `${call.tries} times` : call.tries ? "once" : "never",
    ];
    if (call.error) status.push(element("div", { class: "bad" }, foreign(call.error)));
    return tableRow(`${call.attempt}.${call.ordinal}`, foreign(call.pool), status, ...numbers.map((number) => cell(number, "number")));
  });
  const total = cut.calls ?? made.length;
  const note = cut.calls ? element("p", { class: "warning" }, `Only the first ${count(made.length)} of ${count(total)} calls.`) : null;
  return element("div", { class: "panel wide" }, element("h2", {}, "Calls ", element("span", { class: "quiet" }, counted(total, "call"))), element("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Calls" }, table(CALL_COLUMNS, rows, "calls")), note);
}

function extras({ metadata, attributes, metrics, cut }) {
  const empty = (value) => {
    const { content } = unwrapped(value);
    return content === null || content === undefined || (typeof content === "object" && !Object.keys(content).length);
  };
  return [["Metadata", metadata, cut.metadata], ["Metrics", metrics], ["Attributes", attributes, cut.attributes]]
    .filter(([, value]) => !empty(value))
    .map(([title, value, of]) => panel(title, value, { cut: of }));
}
