/**
 * The charts of a report: slices, latency, what went on when, repeats, and the climb of a ramp.
 *
 * Each is left out where there is nothing to draw. Knows sheets; the drawing is that of `plots`.
 */

import { append, element, foreign, refill } from "../parts/dom.mjs";
import { count, counted, percent, roundSeconds, seconds } from "../parts/numbers.mjs";
import { FEW, sliceable, slices } from "../parts/slices.mjs";
import { cell, row, table } from "../parts/tables.mjs";
import { ramp, tries } from "../plots/curves.mjs";
import { histogram } from "../plots/histogram.mjs";
import { interval } from "../plots/intervals.mjs";
import { progress, throughput } from "../plots/timeline.mjs";
import { casesLink } from "./overview.mjs";

const SHOWN = 20;

/** How cases did, by a field that the reader chooses. */
export function slicesOf(sheet, chosen) {
  const columns = sliceable(sheet);
  if (!columns.length) return null;
  const place = element("div", {});
  const menu = element(
    "select",
    { id: "slice-by" },
    columns.map((column, at) => element("option", { value: at }, foreign(column.name))),
  );
  const draw = () => {
    chosen.by = Number(menu.value);
    refill(place, sliceTable(sheet, columns[chosen.by]));
  };
  menu.value = String(Math.min(chosen.by ?? 0, columns.length - 1));
  menu.addEventListener("change", draw);
  draw();
  const heading = element(
    "h2",
    { id: "slices" },
    "Pass rate by ",
    element("label", { class: "out", for: "slice-by" }, "field"),
    menu,
  );
  return element("section", { "aria-labelledby": "slices" }, heading, place);
}

function sliceTable(sheet, column) {
  const found = slices(sheet, column);
  const rows = found.slice(0, SHOWN).map((slice) => sliceRow(column, slice));
  const more =
    found.length > SHOWN
      ? element("p", { class: "quiet" }, `${counted(found.length - SHOWN, "smaller slice")} not shown`)
      : null;
  return [table(["", "Pass rate", "", "Passed", "Not run"], rows), more];
}

function sliceRow(column, slice) {
  const word = slice.word || "none";
  const link = casesLink(
    [{ field: `${column.group}.${column.name}`, op: ":", value: word, not: false }],
    foreign(word),
  );
  const few =
    slice.cases < FEW ? element("span", { class: "few", title: `fewer than ${FEW} cases` }, " few") : null;
  const left = slice.notrun + slice.open;
  return row(
    link,
    percent(slice.rate),
    cell(interval(slice.rate, slice.bounds), "picture"),
    [`${count(slice.passed)} of ${count(slice.of)}`, few],
    cell(left ? count(left) : "", "quiet"),
  );
}

/** How long tasks worked in attempts that gave an output. */
export function latency(sheet) {
  const { report, outcomes } = sheet.head;
  const [took, outcome] = [sheet.at("seconds"), sheet.at("outcome")];
  const values = [];
  for (let row = 0; row < sheet.n; row++) {
    const name = outcomes[outcome[row] - 1];
    // A rescored run has the times of its source, and 0 where that has none.
    if ((name === "scored" || name === "evaluator_error") && (took[row] || report.speed_up !== null))
      values.push(took[row]);
  }
  if (values.length < 2) return null;
  const note = "working time of attempts that gave an output; waiting for limits is not in it";
  return titled(
    "latency",
    "Latency",
    note,
    histogram(values, { said: seconds, round: roundSeconds, what: "Latency" }),
  );
}

/** What went on when. */
export function overTheRun({ report: { timeline } }) {
  if (!timeline) return null;
  const waits = timeline.waiting.some((share) => share > 0);
  return [
    titled(
      "progress",
      "Cases in progress",
      waits ? "the darker part is waiting, spread evenly over each case" : "",
      progress(timeline),
    ),
    titled("throughput", "Cases ended per second", "errors in red", throughput(timeline)),
  ];
}

/** What repeats say. */
export function repeats({ report }) {
  const [any, all] = [report.pass_at_k ?? [], report.pass_hat_k ?? []];
  if (any.length < 2) return null;
  const cases = Math.min(...any.map(({ n_cases: n }) => n));
  const chances = "the chance that one of k tries passes (above), and that all of them do (below)";
  const note = `${chances}, over ${counted(cases, "case")}`;
  return titled("pass-at-k", "pass@k and pass^k", note, tries(any, all));
}

const CLASSES = {
  stable_pass: "always pass",
  flaky: "pass now and then",
  stable_fail: "never pass",
  infrastructure: "could not be tried properly",
  unknown: "not known",
};

/** Cases by how steady they are, and the least steady of them. */
export function stability({ report: { repeats: found } }) {
  if (!found) return null;
  const counts = Object.entries(found.classes)
    .filter(([, n]) => n > 0)
    .map(([name, n]) => row(CLASSES[name] ?? name, count(n)));
  const flaky = found.flaky.map(({ case: name, variant, passed, tries: n }) => {
    const link = casesLink(
      [{ field: "case", op: ":", value: name, not: false }],
      foreign(variant ? `${variant}: ${name}` : name),
    );
    return element(
      "li",
      {},
      link,
      element("span", { class: "quiet" }, ` passed ${count(passed)} of ${count(n)}`),
    );
  });
  const heading = element("h2", { id: "stability" }, "How steady cases are");
  const more = found.n_left_out
    ? element("li", { class: "quiet" }, `${counted(found.n_left_out, "flaky case")} more`)
    : null;
  return element(
    "section",
    { "aria-labelledby": "stability" },
    heading,
    table(["", "Cases"], counts),
    flaky.length ? append(element("ul", { class: "flaky" }), flaky, more) : null,
  );
}

/** What a climb found, where there was one. */
export function climb({ ramp: found }) {
  const rows = Array.isArray(found?.rows) ? found.rows : [];
  const levels = rows
    .filter((row) => row && !row.paced && row.tries > 0 && Number.isFinite(row.ok_rate))
    .map((row) => ({
      level: row.level,
      rate: row.ok_rate,
      p95: row.p95,
      failed: (row.rejected_share ?? 0) + (row.error_share ?? 0),
    }));
  if (levels.length < 2) return null;
  return titled(
    "ramp",
    "Ramp",
    "answers per second by calls at a time; dashed: 95th percentile of latency; red: calls were rejected or failed",
    ramp(levels),
  );
}

function titled(id, title, note, ...plots) {
  const section = element("section", { class: "chart", "aria-labelledby": id }, element("h2", { id }, title));
  return append(section, note ? element("p", { class: "quiet" }, note) : null, plots);
}
