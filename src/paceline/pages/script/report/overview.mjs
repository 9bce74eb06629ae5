/**
 * The overview: how the run went, to be read in five seconds; below it why cases failed and what evaluators said.
 *
 * Figures and sentences are those of the report (`paceline report --json`); nothing is reckoned here but the
 * widths of bars. Knows the document of a report.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { OUTCOME, STANDING, badge } from "../parts/marks.mjs";
import { count, counted, moment, percent, plain } from "../parts/numbers.mjs";
import { interval } from "../plots/intervals.mjs";
import { fieldOf, written } from "../parts/query.mjs";
import { cell, row, table } from "../parts/tables.mjs";

/** The link to the cases that answer a question, in this report or in the one at `base`. */
export function casesLink(terms, says, base = "") {
  return element("a", { href: `${base}#/cases?q=${encodeURIComponent(written(terms))}` }, says);
}

const asks = (value) => [{ field: "is", op: ":", value, not: false }];

/** The figure that matters, with its interval and its denominator. */
export function headline({ report, overview }) {
  const rate = report.pass_rate;
  const of = report.pass_rate_of;
  const incomplete = report.verdict === "incomplete";
  const bounds = incomplete ? null : report.pass_rate_interval;
  const figure =
    rate === null ? "unknown" : incomplete ? `${count(report.n_passed)} of ${count(of)}` : percent(rate);
  return element(
    "div",
    { class: "headline", role: "group", "aria-label": "Pass rate" },
    element(
      "div",
      { class: "figure" },
      element("span", { class: "big" }, figure),
      element("span", { class: "what" }, incomplete ? "passed so far" : "pass rate"),
    ),
    rate === null || incomplete
      ? null
      : element(
          "div",
          { class: "scale" },
          interval(rate, bounds),
          element(
            "div",
            { class: "ends", "aria-hidden": "true" },
            element("span", {}, "0"),
            element("span", {}, "100 %"),
          ),
        ),
    element("p", { class: "said" }, foreign(sentence({ report, overview }, incomplete))),
  );
}

/** What the terminal says of the rate, without the rate itself. */
function sentence({ report, overview }, incomplete) {
  const said = Object.fromEntries(overview);
  const [rate, ofThoseRun] = [said["Pass rate"] ?? "", said["of those run"]];
  if (!incomplete) return report.pass_rate === null ? rate : rate.replace(/^[^(]*\(([^)]*)\), /, "$1, ");
  const known = report.n_expected_known ? "" : " There may be more cases than have been seen.";
  const left = `${counted(report.n_not_run, "case")} not run: the rate of all is not known yet.${known}`;
  return ofThoseRun ? `${left} Of those run: ${ofThoseRun}.` : left;
}

/** All expected cases as one bar, and a legend that leads to them, in this report or in the one at `base`. */
export function accounts({ report }, base = "") {
  const errors = report.n_failed + report.n_open - report.n_not_run;
  const parts = [
    ["passed", report.n_passed],
    ["failed", report.n_not_passed],
    ["error", errors],
    ["unasserted", report.n_unasserted],
    ["notrun", report.n_not_run],
  ].filter(([, number]) => number > 0);
  const told = parts.map(([name, number]) => `${count(number)} ${STANDING[name].word}`).join(", ");
  const bar = element("div", {
    class: "stack",
    role: "img",
    "aria-label": `${count(report.n_expected)} cases: ${told}`,
  });
  for (const [name, number] of parts) {
    const piece = element("span", { class: name });
    piece.style.flexGrow = number;
    bar.append(piece);
  }
  const legend = element("ul", { class: "legend" });
  for (const [name, number] of parts)
    legend.append(
      element("li", {}, casesLink(asks(name), badge(name, `${count(number)} ${plural(name, number)}`), base)),
    );
  const of = `${count(report.n_expected)} expected${report.n_expected_known ? "" : ", and there may be more"}`;
  return element(
    "div",
    { class: "accounts", role: "group", "aria-label": "Cases" },
    bar,
    append(legend, element("li", { class: "quiet" }, of)),
  );
}

function plural(name, number) {
  return name === "error" && number !== 1 ? "errors" : STANDING[name].word;
}

const SHOWN_ELSEWHERE = new Set(["Pass rate", "Cases", "of those run", "SIMULATED"]);

/** The sentences of the report, without those that the headline has said. */
export function sentences({ overview, report }) {
  const list = element("dl", { class: "facts" });
  for (const [label, said] of overview) {
    if (SHOWN_ELSEWHERE.has(label)) continue;
    append(
      list,
      element("div", {}, element("dt", {}, foreign(label.trim())), element("dd", {}, foreign(said))),
    );
  }
  if (report.limited_advice)
    append(
      list,
      element(
        "div",
        {},
        element("dt", {}, "To be faster"),
        element("dd", {}, foreign(report.limited_advice)),
      ),
    );
  return list;
}

/** What must not be overlooked: that it is no result, or why it stopped. */
export function warnings({ report, overview }) {
  const simulated = overview.find(([label]) => label === "SIMULATED");
  return [
    simulated
      ? element("p", { class: "warning" }, element("strong", {}, "Simulated: "), foreign(simulated[1]))
      : null,
    report.stopped
      ? element("p", { class: "warning" }, element("strong", {}, "Stopped: "), foreign(report.stopped))
      : null,
    report.damaged_lines
      ? element(
          "p",
          { class: "warning" },
          `${counted(report.damaged_lines, "line")} of the record cannot be read.`,
        )
      : null,
  ];
}

/** When and how far, in a line under the name of the run. */
export function standing({ report, run }) {
  const state = {
    complete: "complete",
    errors: "complete, with errors",
    incomplete: "incomplete",
    empty: "nothing in it",
  }[report.verdict];
  const rescored = run.rescored_from ? ", rescored" : "";
  return `${state}${rescored} · started ${moment(report.started)} · ${report.run_id}`;
}

/** Why cases did not pass: assertions that are false, and causes of errors, most frequent first. */
export function causes(sheet) {
  const { report } = sheet.head;
  const reasons = [...untrue(sheet), ...report.causes.map((cause) => errorReason(sheet, cause))];
  if (!reasons.length) return null;
  const most = Math.max(...reasons.map(({ number }) => number));
  const list = element("ol", { class: "causes" });
  for (const { number, look, says, where, terms } of reasons.sort((a, b) => b.number - a.number)) {
    const bar = element("span", { class: `bar ${look}` });
    bar.style.width = `${(100 * number) / most}%`;
    const why = element(
      "span",
      { class: "why" },
      terms ? casesLink(terms, says) : says,
      " ",
      element("span", { class: "quiet" }, where),
    );
    const track = element("span", { class: "track", "aria-hidden": "true" }, bar);
    append(list, element("li", {}, element("span", { class: "n" }, count(number)), track, why));
  }
  const rest = report.causes_left_out
    ? element(
        "p",
        { class: "quiet" },
        `${counted(report.causes_left_out, "error")} more, of causes not listed`,
      )
    : null;
  return element(
    "section",
    { "aria-labelledby": "why" },
    element("h2", { id: "why" }, "Why cases did not pass"),
    list,
    rest,
  );
}

/** Assertions that are false, each with the cases that it is false of. */
function untrue(sheet) {
  const reasons = [];
  for (const column of sheet.group("assertion")) {
    let number = 0;
    for (let row = 0; row < sheet.n; row++) number += column.values[row] === 0;
    if (!number) continue;
    const terms = [{ field: fieldOf(sheet, column), op: ":", value: "false", not: false }];
    reasons.push({
      number,
      look: "failed",
      says: [element("strong", {}, foreign(column.name)), " is false"],
      where: "",
      terms,
    });
  }
  return reasons;
}

function errorReason(sheet, cause) {
  const code = codeOf(sheet, cause);
  const says = [
    element("strong", {}, foreign(cause.type || cause.outcome)),
    " ",
    element("span", { class: "message" }, foreign(cause.message)),
  ];
  const where = foreign(
    `${OUTCOME[cause.outcome] ?? cause.outcome}${cause.stage && cause.stage !== "task" ? `, in ${cause.stage}` : ""}`,
  );
  const terms = code > 0 ? [{ field: "cause", op: ":", value: String(code), not: false }] : null;
  return { number: cause.count, look: "error", says, where, terms };
}

function codeOf(sheet, cause) {
  return sheet.head.causes.findIndex(
    (each) =>
      each.outcome === cause.outcome &&
      each.stage === cause.stage &&
      each.type === cause.type &&
      each.message === cause.message,
  );
}

/** What evaluators said, over all cases. */
export function evaluators({ report }) {
  const rows = [];
  const judge = ({ by }) => standingOf(report.judges?.[by]);
  for (const [name, each] of Object.entries(report.assertions)) rows.push(assertion(name, each, judge(each)));
  for (const [name, each] of Object.entries(report.scores)) rows.push(score(name, each, judge(each)));
  for (const [name, each] of Object.entries(report.labels)) rows.push(label(name, each, judge(each)));
  for (const [name, number] of Object.entries(report.evaluator_failures))
    rows.push(said(name, element("span", { class: "bad" }, `could not say: ${counted(number, "case")}`)));
  for (const [name, number] of Object.entries(report.evaluators_silent))
    rows.push(said(name, element("span", { class: "bad" }, `said nothing of ${counted(number, "case")}`)));
  if (!rows.length) return null;
  return element(
    "section",
    { "aria-labelledby": "evaluators" },
    element("h2", { id: "evaluators" }, "Evaluators"),
    table(["Evaluator", "Result", "", "Cases"], rows),
  );
}

function said(name, result, picture, of) {
  return row(foreign(name), result, cell(picture, "picture"), cell(of, "quiet"));
}

/** Whether a judge was held against people, where an evaluator is one. */
function standingOf(judge) {
  if (!judge) return null;
  const look = judge.state === "calibrated" ? "quiet" : "bad";
  return element("div", { class: look, title: judge.why || null }, `judge, ${judge.state}`);
}

function denominator({ n, n_expected: expected }) {
  return n === expected ? count(n) : `${count(n)} of ${count(expected)}`;
}

function assertion(name, each, judge) {
  const { rate, interval: bounds, n_true: held } = each;
  return said(
    name,
    [`${percent(rate)} true (${count(held)})`, judge],
    interval(rate, bounds),
    denominator(each),
  );
}

function score(name, each, judge) {
  const values = each.n
    ? `mean ${plain(each.mean)}, median ${plain(each.median)}, ${plain(each.min)} to ${plain(each.max)}`
    : "unknown";
  return said(name, [values, judge], null, denominator(each));
}

function label(name, each, judge) {
  const words = Object.entries(each.counts).slice(0, 8);
  const counts = words.map(([word, number]) =>
    element("span", { class: "label" }, foreign(word), ` ${count(number)}`),
  );
  return said(name, [counts.length ? counts : "unknown", judge], null, denominator(each));
}
