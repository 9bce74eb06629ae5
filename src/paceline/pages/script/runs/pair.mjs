/**
 * Two runs: the comparison of them by case, and below it the same figures of both beside each other.
 *
 * Two rates with their intervals do not tell whether one run is better: the same cases were asked in both, and
 * what matters is on which of them they part. So the comparison stands first; where there can be none, it is
 * said why. Knows the facts of reports, and the document of a comparison.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { percent } from "../parts/numbers.mjs";
import { cell, row, table } from "../parts/tables.mjs";
import { comparisonPage } from "../comparison/page.mjs";
import { interval } from "../plots/intervals.mjs";
import { accounts, headline, sentences, standing, warnings } from "../report/overview.mjs";

/** Both, from `[{id, facts}, {id, facts}]` and what is told of their comparison: `{told}` or `{error}`. */
export function pair(sides, { told, error }) {
  const [a, b] = sides.map(({ id }) => `/run/${id}`);
  const compared = told
    ? comparisonPage(told, { A: a, B: b })
    : element("p", { class: "warning" }, "These cannot be compared: ", foreign(error));
  const columns = append(element("div", { class: "pair" }), sides.map(side));
  return element(
    "div",
    { class: "overview" },
    element("h1", { class: "out" }, "Two runs"),
    compared,
    element("h2", {}, "Side by side"),
    columns,
    assertions(sides),
  );
}

function side({ id, facts }, place) {
  const title = element("h3", {}, element("a", { href: `/run/${id}` }, foreign(facts.report.name)));
  return element(
    "section",
    { "aria-label": `${place ? "Second" : "First"}: ${facts.report.name}` },
    title,
    element("p", { class: "quiet" }, foreign(standing(facts))),
    warnings(facts),
    headline(facts),
    accounts(facts, `/run/${id}`),
    sentences(facts),
  );
}

/** Assertions by name, with the rate of each side. */
function assertions(sides) {
  const names = [...new Set(sides.flatMap(({ facts }) => Object.keys(facts.report.assertions)))];
  if (!names.length) return null;
  const rows = names.map((name) =>
    row(
      foreign(name),
      ...sides.flatMap(({ facts }) => {
        const told = facts.report.assertions[name];
        return told
          ? [`${percent(told.rate)}`, cell(interval(told.rate, told.interval), "picture")]
          : ["not asserted", ""];
      }),
    ),
  );
  const heading = element("h2", { id: "assertions" }, "Assertions");
  return element(
    "section",
    { "aria-labelledby": "assertions" },
    heading,
    table(["Assertion", "First", "", "Second", ""], rows),
  );
}
