/**
 * How the run was started, and what it was part of: for whoever wants to do it again.
 *
 * Knows the facts of a run as its first line has them.
 */

import { element, foreign } from "../parts/dom.mjs";
import { count, dollars, percent, seconds } from "../parts/numbers.mjs";
import { cell, row, table } from "../parts/tables.mjs";
import { shown } from "../parts/values.mjs";
import { interval } from "../plots/intervals.mjs";

/** A table of facts, folded away. */
export function howItWasRun({ run, report }) {
  const facts = [
    ["Suite", run.suite],
    ["Command", (run.command ?? []).join(" ")],
    ["Started in", run.directory],
    ["Record", report.path],
    ["Rescored from", run.rescored_from],
    ["Metadata", run.metadata ?? report.metadata],
    ["Settings", run.settings],
    ["Commit", run.git],
    ["Versions", run.versions],
  ].filter(
    ([, value]) =>
      value !== null && value !== undefined && value !== "" && Object.keys(Object(value)).length !== 0,
  );
  const rows = facts.map(([label, value]) =>
    element(
      "div",
      {},
      element("dt", {}, label),
      element("dd", {}, element("code", {}, foreign(shown(value)))),
    ),
  );
  return element(
    "details",
    { class: "how" },
    element("summary", {}, "How it was run"),
    element("dl", { class: "facts" }, rows),
  );
}

/** What limited the run: shares of its time. */
export function limits({ report }) {
  const shares = (report.limited_by ?? []).filter(({ share }) => share >= 0.005);
  if (!shares.length) return null;
  const rows = shares.map(({ limit, seconds: spent, share }) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${100 * share}%`;
    const track = cell(element("span", { class: "track", "aria-hidden": "true" }, bar), "track-cell");
    return row(LIMITS[limit] ?? limit, percent(share), track, cell(seconds(spent), "quiet"));
  });
  const heading = element("h2", { id: "limits" }, "What limited this run");
  return element(
    "section",
    { "aria-labelledby": "limits" },
    heading,
    table(["Limit", "Share of the time", "", "Time"], rows),
  );
}

const LIMITS = {
  cases: "all places taken",
  window: "calls in flight",
  requests: "requests a minute",
  tokens: "tokens a minute",
  blocked: "told to wait (429)",
  outage: "provider out of order",
  backoff: "waiting to try again",
  stragglers: "last cases",
  scoring: "evaluators",
  loop: "event loop blocked",
  machine: "this machine",
  journal: "disk",
  idle: "nothing to do",
  unknown: "not on record",
};

/** Variants side by side, where there are several. */
export function variants({ report }) {
  if (!report.variants.length) return null;
  const rows = report.variants.map((each) => {
    const errors = each.n_failed + each.n_open - each.n_not_run;
    const cost = each.cost_usd?.total;
    return row(
      foreign(each.name || "default"),
      percent(each.pass_rate),
      cell(interval(each.pass_rate, each.interval), "picture"),
      count(each.pass_rate_of),
      count(errors),
      seconds(each.latency_s.p50),
      cost ? (cost.total === null ? `≥ ${dollars(cost.at_least)}` : dollars(cost.total)) : "unknown",
    );
  });
  const heading = element("h2", { id: "variants" }, "Variants");
  const titles = ["Variant", "Pass rate", "", "Of cases", "Errors", "Latency p50", "Cost"];
  return element("section", { class: "broad", "aria-labelledby": "variants" }, heading, table(titles, rows));
}
