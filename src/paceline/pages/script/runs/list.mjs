/**
 * The list of runs: how each stands, how far it has come, and the two that the reader wants beside each other.
 *
 * Knows the documents of `/api/runs`. How to get them is the program's business.
 */

import { append, element, foreign, refill } from "../parts/dom.mjs";
import { ago, count, counted, moment, percent } from "../parts/numbers.mjs";
import { interval } from "../plots/intervals.mjs";

const STATES = {
  running: { look: "running", sign: "●" },
  complete: { look: "complete", sign: "✓" },
  interrupted: { look: "stopped", sign: "‖" },
  "out of budget": { look: "stopped", sign: "‖" },
  "broken off": { look: "dead", sign: "✕" },
  killed: { look: "dead", sign: "✕" },
};

export class RunList {
  constructor({ compare }) {
    this._compare = compare;
    this._chosen = [];
    this._runs = [];
    this._field = element("input", {
      type: "search",
      id: "question",
      class: "question",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Search by name, suite or id",
      "aria-label": "Search runs",
      on: { input: () => this._draw() },
    });
    this._button = element("button", { type: "button", on: { click: () => this._compare(...this._chosen) } });
    this._told = element("span", { class: "quiet", role: "status" });
    this._body = element("tbody");
    const heads = ["Compare", "Run", "State", "Pass rate", "", "Cases", "Started"].map((title) =>
      title ? element("th", { scope: "col" }, title) : element("td", {}),
    );
    const table = element(
      "table",
      { class: "figures runs" },
      element("thead", {}, element("tr", {}, heads)),
      this._body,
    );
    this.node = element(
      "section",
      { "aria-label": "Runs" },
      element("h1", { class: "out" }, "Runs"),
      element("div", { class: "cases-bar" }, this._field, this._button, this._told),
      table,
    );
    this._sayChosen();
  }

  focusField() {
    this._field.focus();
    this._field.select();
  }

  /** Show these runs. */
  show(runs) {
    this._runs = runs;
    const known = new Set(runs.map(({ id }) => id));
    this._chosen = this._chosen.filter((id) => known.has(id));
    this._draw();
  }

  _draw() {
    const words = this._field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this._runs.filter((run) =>
      words.every((word) =>
        `${run.name} ${run.suite} ${run.run_id} ${run.path} ${run.state}`.toLowerCase().includes(word),
      ),
    );
    const focused = document.activeElement?.dataset?.run;
    refill(
      this._body,
      found.map((run) => this._row(run)),
    );
    if (focused) this._body.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
    refill(
      this._told,
      this._runs.length
        ? `${count(found.length)} of ${counted(this._runs.length, "run")}`
        : "There are no runs here yet.",
    );
    this._sayChosen();
  }

  _row(run) {
    const box = element("input", {
      type: "checkbox",
      "data-run": run.id,
      "aria-label": `Compare ${run.name} ${run.run_id}`,
      checked: this._chosen.includes(run.id),
    });
    box.addEventListener("change", () => this._choose(run.id, box.checked));
    const link = element("a", { href: `/run/${run.id}` }, foreign(run.name));
    const beside = [run.rescored_from ? "rescored" : "", run.simulated ? "rehearsal" : "", run.run_id]
      .filter(Boolean)
      .join(" · ");
    const failed = (run.failed ?? 0) + (run.errors ?? 0);
    const cells = [
      element("th", { scope: "row" }, link, element("div", { class: "quiet" }, foreign(beside))),
      element("td", {}, state(run)),
      element("td", { class: "number" }, rate(run)),
      element(
        "td",
        { class: "picture" },
        run.pass_rate === null ? progress(run) : interval(run.pass_rate, run.interval),
      ),
      element("td", {}, cases(run), failed ? element("div", { class: "bad" }, failures(run)) : null),
      element("td", { class: "quiet", title: moment(run.started) }, ago(run.started, Date.now() / 1000)),
    ];
    return element("tr", {}, element("td", {}, box), cells);
  }

  _choose(id, on) {
    this._chosen = this._chosen.filter((each) => each !== id);
    if (on) this._chosen.push(id);
    // A third one takes the place of the first: two are compared.
    if (this._chosen.length > 2) this._chosen.shift();
    this._draw();
  }

  _sayChosen() {
    this._button.disabled = this._chosen.length !== 2;
    this._button.textContent = this._chosen.length === 2 ? "Compare these two" : "Choose two to compare";
  }
}

/** A state with its sign; one that was not counted yet is not known. */
export function state({ state: name, process }) {
  if (name === null) return element("span", { class: "quiet" }, "counting…");
  const { look, sign } = STATES[name];
  const title = process ? `process ${process.pid} on ${process.host}` : null;
  return element(
    "span",
    { class: `run-state ${look}`, title },
    element("span", { "aria-hidden": "true" }, `${sign} `),
    name,
  );
}

function rate(run) {
  if (run.pass_rate !== null) return percent(run.pass_rate);
  return run.passed === null ? "" : `${count(run.passed)} passed`;
}

function cases(run) {
  if (run.passed === null) return "";
  const ended = run.passed + run.failed + run.errors + run.unasserted;
  return run.keys === null
    ? `${count(ended)} so far`
    : ended === run.keys
      ? count(ended)
      : `${count(ended)} of ${count(run.keys)}`;
}

function failures({ failed, errors }) {
  return [failed ? `${count(failed)} failed` : "", errors ? counted(errors, "error") : ""]
    .filter(Boolean)
    .join(", ");
}

/** How far a run has come that is not through. */
function progress(run) {
  if (run.passed === null || !run.keys) return null;
  const bar = element("div", { class: "stack thin", role: "img", "aria-label": cases(run) });
  for (const [name, number] of [
    ["passed", run.passed],
    ["failed", run.failed],
    ["error", run.errors],
    ["unasserted", run.unasserted],
    ["rest-of-it", run.not_run],
  ]) {
    if (!number) continue;
    const piece = element("span", { class: name });
    piece.style.flexGrow = number;
    append(bar, piece);
  }
  return bar;
}
