/**
 * A comparison as a page: what is better, what is worse, what cannot be told, and which keys have changed.
 *
 *     comparisonPage(document, { A: "/run/1", B: "/run/2" })
 *
 * The document is that of `paceline compare --json`; its verdicts and sentences are shown as they are, and
 * nothing is reckoned here. With places of the runs, keys lead to their cases. Knows the document.
 */

import { append, element, foreign, refill } from "../parts/dom.mjs";
import { count, counted, dollars, percent, plain, seconds } from "../parts/numbers.mjs";
import { written } from "../parts/query.mjs";
import { cell, row, table } from "../parts/tables.mjs";
import { difference } from "../plots/differences.mjs";

const SHOWN = 100;
const TITLES = { pass_rate: "pass rate", latency_s: "latency", cost_usd: "cost" };
const VALUES = { share: percent, seconds, dollars, number: plain };

/** What has become of keys: the gravest first. */
const CHANGES = {
  worse: ["does not pass any more", "do not pass any more"],
  crashed: ["crashes now", "crash now"],
  better: ["passes now", "pass now"],
  recovered: ["crashes no more", "crash no more"],
  new: ["is new", "are new"],
  gone: ["is gone", "are gone"],
  not_run: ["was not run in one of them", "were not run in one of them"],
};

/** All of it; of more than two runs, the pair that is chosen. */
export function comparisonPage(told, places = {}) {
  const place = element("div", { class: "overview" });
  const show = (pair) => refill(place, shown(told, pair, places));
  const several = told.pairs.length > 1 ? matrix(told, (pair) => show(pair)) : null;
  show(told.pairs[0]);
  return element("div", { class: "overview" }, sides(told, places), several, place);
}

function sides({ runs }, places) {
  const items = Object.entries(runs).map(([letter, { name, suite, n, whole, simulated }]) => {
    const facts = [
      suite === name ? "" : suite,
      counted(n, "key"),
      whole ? "" : "incomplete",
      simulated ? "simulated: no result" : "",
    ]
      .filter(Boolean)
      .join(", ");
    const called =
      letter in places
        ? element("a", { href: places[letter] }, foreign(name))
        : element("span", {}, foreign(name));
    return element(
      "li",
      {},
      element("strong", {}, letter),
      " ",
      called,
      element("span", { class: "quiet" }, foreign(` ${facts}`)),
    );
  });
  return element("ul", { class: "sides" }, items);
}

/** Who against whom: a verdict for each pair, which leads to it. */
function matrix({ runs, pairs }, show) {
  const letters = Object.keys(runs);
  const rows = letters.slice(1).map((second) => {
    const cells = letters.slice(0, -1).map((first) => {
      const pair = pairs.find(({ a, b }) => a === first && b === second);
      return pair
        ? element(
            "button",
            { type: "button", class: look(pair.verdict), on: { click: () => show(pair) } },
            pair.verdict,
          )
        : "";
    });
    return row(`${second} is, against`, ...cells);
  });
  return element(
    "section",
    { "aria-labelledby": "matrix" },
    element("h2", { id: "matrix" }, "Each with each, by pass rate"),
    table(["", ...letters.slice(0, -1)], rows),
  );
}

function look(verdict) {
  return { better: "yes", worse: "no" }[verdict] ?? "quiet";
}

function shown(told, pair, places) {
  const first = pair.metrics.find(({ name }) => name === "pass_rate");
  return [
    element(
      "div",
      { class: "headline", role: "group", "aria-label": "Verdict" },
      element(
        "div",
        { class: "figure" },
        element("span", { class: `big ${look(pair.verdict)}` }, pair.verdict),
        element("span", { class: "what" }, `${pair.b} against ${pair.a}, by pass rate`),
      ),
      first ? element("p", { class: "said" }, inShort(first, pair), foreign(first.sentence)) : null,
      element("p", { class: "quiet" }, `${counted(pair.n_shared, "key")} in both`),
    ),
    differing(pair),
    metrics(told, pair),
    changes(pair, places),
  ];
}

/** Both rates and how far they lie apart; nothing where no key of both has one. */
function inShort({ unit, a, b, difference: by, interval }, pair) {
  if (by === null) return "";
  const range = interval ? ` (${between(unit, interval)})` : "";
  return `${percent(a)} in ${pair.a}, ${percent(b)} in ${pair.b}: ${apart(unit, by)}${range}. `;
}

function differing({ differing: found }) {
  if (!found.length) return null;
  const items = found.map(({ about, text }) =>
    element("li", {}, element("strong", {}, foreign(about)), ": ", foreign(text)),
  );
  return element(
    "div",
    { class: "warning" },
    element("strong", {}, "What else is not the same"),
    element("ul", {}, items),
  );
}

function metrics({ confidence }, pair) {
  const rows = pair.metrics.map((metric) => measured(metric, pair));
  const titles = ["Figure", pair.a, pair.b, "Difference", "", "p", "Verdict"];
  const sure = `intervals of ${Math.round(confidence * 100)} %, paired by case`;
  const note = `${sure}; p put right for how many figures were looked at`;
  return element(
    "section",
    { "aria-labelledby": "figures" },
    element("h2", { id: "figures" }, "Figures"),
    element("p", { class: "quiet" }, note),
    table(titles, rows),
  );
}

function measured(metric, { a, b }) {
  const said = VALUES[metric.unit];
  const name = TITLES[metric.name] ?? metric.name.slice(metric.name.indexOf(".") + 1);
  const verdict = cell(foreign(metric.sentence), look(metric.verdict));
  if (metric.difference === null) return row(foreign(name), "", "", "", "", "", verdict);
  const by = apart(metric.unit, metric.difference);
  const range = metric.interval ? between(metric.unit, metric.interval) : "interval unknown";
  const pairs = element(
    "div",
    { class: "quiet" },
    metric.only_a === null
      ? counted(metric.n, "key")
      : `${count(metric.only_a)} only in ${a}, ${count(metric.only_b)} only in ${b}`,
  );
  const p = metric.p_adjusted ?? metric.p;
  return row(
    [foreign(name), leftOut(metric, a, b)],
    said(metric.a),
    said(metric.b),
    [by, element("div", { class: "quiet" }, range)],
    cell([difference(metric.difference, metric.interval, `${by}, ${range}`), pairs], "picture"),
    p === null ? "" : p < 1e-6 ? "<0.000001" : String(Number(p.toPrecision(3))),
    verdict,
  );
}

/** Keys that are not in a figure: a failure that hides a value is told with it. */
function leftOut({ n_failed_a: inA, n_failed_b: inB, n_unknown: unknown }, a, b) {
  const told = [
    inA ? `${count(inA)} failed in ${a}` : "",
    inB ? `${count(inB)} failed in ${b}` : "",
    unknown ? `${count(unknown)} not known` : "",
  ].filter(Boolean);
  return told.length ? element("div", { class: "quiet" }, `left out: ${told.join(", ")}`) : null;
}

function between(unit, { low, high }) {
  return `${apart(unit, low).replace(" points", "")} to ${apart(unit, high).replace(" points", "")}`;
}

function apart(unit, value) {
  const sign = value < 0 ? "−" : "+";
  if (unit === "share") return `${sign}${(Math.abs(value) * 100).toFixed(1)} points`;
  return `${sign}${VALUES[unit](Math.abs(value))}`;
}

function changes({ changes: found, a, b }, places) {
  const sections = Object.entries(CHANGES).flatMap(([change, [one, many]]) => {
    const keys = found[change] ?? [];
    if (!keys.length) return [];
    const summary = element(
      "summary",
      {},
      element("strong", {}, counted(keys.length, "key")),
      ` ${keys.length === 1 ? one : many}`,
    );
    const items = keys
      .slice(0, SHOWN)
      .map((key) =>
        element(
          "li",
          {},
          keyLink(key, places, a, b),
          element("span", { class: "quiet" }, foreign(` ${key.a ?? "not there"} → ${key.b ?? "not there"}`)),
        ),
      );
    const more =
      keys.length > SHOWN ? element("li", { class: "quiet" }, `${count(keys.length - SHOWN)} more`) : null;
    const list = append(
      element("details", { class: "change" }, summary),
      append(element("ul", { class: "keys" }), items, more),
    );
    list.open = change === "worse" || change === "crashed";
    return [list];
  });
  if (!sections.length) sections.push(element("p", { class: "quiet" }, "No key has changed."));
  return element(
    "section",
    { "aria-labelledby": "changes" },
    element("h2", { id: "changes" }, "What has become of keys"),
    sections,
  );
}

function keyLink({ case: name, repeat, variant, b: inSecond }, places, a, b) {
  const called = `${variant ? `${variant}: ` : ""}${name}${repeat ? ` [${repeat + 1}]` : ""}`;
  const place = inSecond === null ? places[a] : places[b];
  if (!place) return foreign(called);
  const question = written([{ field: "case", op: ":", value: name, not: false }]);
  return element("a", { href: `${place}#/cases?q=${encodeURIComponent(question)}` }, foreign(called));
}
