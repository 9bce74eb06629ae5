/**
 * Two reports beside each other: the same figures of both, and no word on whether they differ.
 *
 * Two rates with their intervals do not tell whether one run is better: the same cases were asked in both, and
 * what matters is on which of them they part. That is for a comparison by case to say, not for this page.
 * Knows the facts of reports.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { percent } from "../parts/numbers.mjs";
import { cell, row, table } from "../parts/tables.mjs";
import { interval } from "../plots/intervals.mjs";
import { accounts, headline, sentences, standing, warnings } from "../report/overview.mjs";

/** Both, from `[{id, facts}, {id, facts}]`. */
export function pair(sides) {
  const note = "Both as they are. Whether they differ is told by comparing them case by case.";
  const heading = element("h1", {}, "Side by side");
  const columns = append(element("div", { class: "pair" }), sides.map(side));
  return element("div", { class: "overview" }, append(element("div", {}), heading, element("p", { class: "quiet" }, note)), columns, assertions(sides));
}

function side({ id, facts }, place) {
  const title = element("h2", {}, element("a", { href: `/run/${id}` }, foreign(facts.report.name)));
  return element("section", { "aria-label": `${place ? "Second" : "First"}: ${facts.report.name}` }, title, element("p", { class: "quiet" }, foreign(standing(facts))), warnings(facts), headline(facts), accounts(facts, `/run/${id}`), sentences(facts));
}

/** Assertions by name, with the rate of each side. */
function assertions(sides) {
  const names = [...new Set(sides.flatMap(({ facts }) => Object.keys(facts.report.assertions)))];
  if (!names.length) return null;
  const rows = names.map((name) =>
    row(foreign(name), ...sides.flatMap(({ facts }) => {
      const told = facts.report.assertions[name];
      return told ? [`${percent(told.rate)}`, cell(interval(told.rate, told.interval), "picture")] : ["not asserted", ""];
    })),
  );
  const heading = element("h2", { id: "assertions" }, "Assertions");
  return element("section", { "aria-labelledby": "assertions" }, heading, table(["Assertion", "First", "", "Second", ""], rows));
}
