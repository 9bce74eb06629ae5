/**
 * What a case took: where its time went, how earlier tries ended, and which models it called.
 *
 * Knows the row of a sheet and parts of a body.
 */

import { element, foreign } from "../parts/dom.mjs";
import { count, counted, dollars, moment, seconds } from "../parts/numbers.mjs";
import { cell, row as tableRow, table } from "../parts/tables.mjs";
import { longText } from "./texts.mjs";

/** Where the time of a case went. */
export function timing(sheet, row) {
  const [took, total, waited] = ["seconds", "total", "waited"].map((name) => sheet.at(name)?.[row] || 0);
  if (!took && !total) return null;
  const rest = Math.max(0, total - took - waited);
  const parts = [
    ["work", took, "working"],
    ["wait", waited, "waiting for limits and between tries"],
    ["rest", rest, "scoring, setup and other tries"],
  ].filter(([, spent]) => spent > 0.0005);
  const bar = element("div", { class: "stack thin", "aria-hidden": "true" });
  for (const [name, spent] of parts) {
    const piece = element("span", { class: name });
    piece.style.flexGrow = 1000 * spent;
    bar.append(piece);
  }
  const said = parts.map(([name, spent, what]) =>
    element(
      "li",
      {},
      element("span", { class: `key ${name}`, "aria-hidden": "true" }),
      `${seconds(spent)} ${what}`,
    ),
  );
  const when = element(
    "li",
    { class: "quiet" },
    `ended ${moment(sheet.head.began + sheet.at("ended")[row])}`,
  );
  return element(
    "div",
    { class: "panel wide" },
    element("h2", {}, "Time ", element("span", { class: "quiet" }, seconds(Math.max(total, took + waited)))),
    bar,
    element("ul", { class: "legend" }, said, when),
  );
}

/** How earlier tries have ended. */
export function tries(found) {
  if (!found.length) return null;
  const items = found.map(
    ({ attempt, at, outcome, type, message, trace, seconds: took, waited, retry_in: again }) => {
      const facts = [
        outcome,
        seconds(took),
        waited ? `waited ${seconds(waited)}` : "",
        again ? `tried again after ${seconds(again)}` : "",
        moment(at),
      ].filter(Boolean);
      const why =
        type || message
          ? element(
              "p",
              { class: "bad" },
              element("strong", {}, foreign(type)),
              message ? ": " : "",
              foreign(message),
            )
          : null;
      return element(
        "li",
        {},
        element("strong", {}, `Try ${attempt}`),
        element("span", { class: "quiet" }, foreign(` ${facts.join(" · ")}`)),
        why,
        trace ? element("details", {}, element("summary", {}, "Traceback"), longText(trace)) : null,
      );
    },
  );
  return element(
    "div",
    { class: "panel wide" },
    element("h2", {}, "Earlier tries"),
    element("ol", { class: "tries" }, items),
  );
}

const NOTABLE = 0.001; // seconds; everybody waits for a moment
const CALL_COLUMNS = [
  "#",
  "Pool",
  "Status",
  "Tokens in",
  "cached",
  "out",
  "Cost",
  "First token",
  "Time",
  "Waited",
  "Sent",
];

/** The calls of models, a row each. */
export function calls({ calls: made, cut }) {
  if (!made.length) return null;
  const known = (value, said) => (value === null || value === undefined ? "unknown" : said(value));
  const rows = made.map((call) => {
    const how = [
      call.outcome === "ok" ? "" : call.outcome,
      call.cause,
      call.replayed ? "replayed" : "",
      call.simulated ? "simulated" : "",
      call.by ? `by ${call.by}` : "",
    ]
      .filter(Boolean)
      .join(", ");
    const status = [
      call.status ?? "",
      how ? element("span", { class: call.outcome === "ok" ? "quiet" : "bad" }, foreign(` ${how}`)) : null,
    ];
    const numbers = [
      known(call.input_tokens, count),
      call.cached_tokens ? count(call.cached_tokens) : "",
      known(call.output_tokens, count),
      known(call.price, dollars),
      call.first_token === null ? "" : seconds(call.first_token),
      seconds(call.seconds),
      call.waited >= NOTABLE ? seconds(call.waited) : "",
      call.tries > 1 ? `${call.tries} times` : call.tries ? "once" : "never",
    ];
    if (call.error) status.push(element("div", { class: "bad" }, foreign(call.error)));
    return tableRow(
      `${call.attempt}.${call.ordinal}`,
      foreign(call.pool),
      status,
      ...numbers.map((number) => cell(number, "number")),
    );
  });
  const total = cut.calls ?? made.length;
  const note = cut.calls
    ? element("p", { class: "warning" }, `Only the first ${count(made.length)} of ${count(total)} calls.`)
    : null;
  return element(
    "div",
    { class: "panel wide" },
    element("h2", {}, "Calls ", element("span", { class: "quiet" }, counted(total, "call"))),
    element(
      "div",
      { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Calls" },
      table(CALL_COLUMNS, rows, "calls"),
    ),
    note,
  );
}
