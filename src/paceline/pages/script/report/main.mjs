/**
 * The program of a report: takes the sheet from its source, shows the view that the address names, and, while a
 * run goes on, asks for what is new.
 *
 *     #/               the overview
 *     #/cases?q=...    the table
 *     #/case/12        one case
 */

import { append, element, foreign, refill } from "../parts/dom.mjs";
import { Keys } from "../parts/keyboard.mjs";
import { Sheet } from "../parts/sheet.mjs";
import { Here, There } from "../parts/source.mjs";
import { themeButton } from "../parts/theme.mjs";
import { casePage, opened } from "./casepage.mjs";
import { CasesView } from "./cases.mjs";
import { climb, latency, overTheRun, repeats, slicesOf, stability } from "./charts.mjs";
import { howItWasRun, limits, variants } from "./how.mjs";
import { accounts, causes, evaluators, headline, sentences, standing, warnings } from "./overview.mjs";

const SOON = 1000;
const LATER = 5000;

class Program {
  constructor(source) {
    this._source = source;
    this._sheet = new Sheet();
    this._slice = {};
    this._keys = new Keys();
    this._place = element("main", { id: "main", tabindex: -1 });
    this._state = element("span", { class: "state", role: "status" });
    this._title = element("span", { class: "title" });
    this._tabs = { "": tab("#/", "Overview"), cases: tab("#/cases", "Cases") };
  }

  async start() {
    this._sheet.take(await this._source.sheet());
    const home = this._source.live ? element("a", { href: "/", class: "home" }, "← Runs") : null;
    const help = element(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": "Keys",
        title: "keys (?)",
        on: { click: () => this._keys.help() },
      },
      "?",
    );
    const bar = element(
      "header",
      { class: "bar" },
      home,
      this._title,
      this._state,
      element("nav", { "aria-label": "Views" }, Object.values(this._tabs)),
      help,
      themeButton(),
    );
    refill(
      document.getElementById("page"),
      element(
        "a",
        { class: "skip", href: "#main", on: { click: (event) => this._skip(event) } },
        "To the content",
      ),
      bar,
      this._place,
    );
    this._cases = new CasesView(this._sheet, this._source, {
      open: (row) => go(`#/case/${row}`),
      changed: (text) => this._asked(text),
    });
    this._bindKeys();
    window.addEventListener("hashchange", () => this._show());
    this._name();
    this._show();
    if (this._source.live) this._watch();
  }

  _skip(event) {
    event.preventDefault();
    this._place.focus();
  }

  _name() {
    const { report } = this._sheet.head;
    refill(this._title, foreign(report.name));
    document.title = `${report.name} · Paceline`;
    const running = this._sheet.head.running
      ? element("span", { class: "run-state running" }, "● running ")
      : null;
    refill(this._state, running, foreign(standing(this._sheet.head)));
  }

  // Views

  _show() {
    const { view, argument, question } = address();
    for (const [name, link] of Object.entries(this._tabs)) {
      if (name === (view === "case" ? "cases" : view)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.documentElement.dataset.view = view || "overview";
    this._view = view;
    if (view === "cases") this._showCases(question);
    else if (view === "case") this._showCase(Number(argument));
    else refill(this._place, this._overview());
  }

  _showCases(question) {
    if (!this._cases.node.isConnected) refill(this._place, this._cases.node);
    if (question !== this._cases.question) this._cases.ask(question);
    else this._cases.apply();
    if (this._shown !== undefined) this._cases.choose(this._shown);
    this._shown = undefined;
    // Who came by `/` is writing by now.
    if (!this._cases.node.contains(document.activeElement)) this._cases.focus();
  }

  async _showCase(row) {
    this._shown = row;
    if (!(row >= 0 && row < this._sheet.n)) {
      refill(this._place, element("p", { class: "warning" }, "There is no such case."));
      return;
    }
    const text = await this._source.text(row).catch((error) => ({ error }));
    if (this._shown !== row || address().view !== "case") return;
    if (text.error) {
      refill(
        this._place,
        element("p", { class: "warning" }, `This case cannot be shown: ${text.error.message}.`),
      );
      return;
    }
    const body = opened(text, this._sheet.head.layout);
    const place = this._cases.place(row);
    const back = element("a", { href: this._casesAddress() }, "← Cases");
    const steps = [
      [-1, "↑ previous"],
      [1, "next ↓"],
    ].map(([step, says]) => {
      const other = this._cases.neighbour(row, step);
      return element(
        "button",
        { type: "button", disabled: other === undefined, on: { click: () => go(`#/case/${other}`) } },
        says,
      );
    });
    refill(
      this._place,
      element("nav", { class: "case-nav", "aria-label": "Cases" }, back, steps),
      casePage(this._sheet, row, body, { place }),
    );
    window.scrollTo(0, 0);
    document.getElementById("case-name").focus({ preventScroll: true });
  }

  _overview() {
    const { head } = this._sheet;
    const sections = [
      causes(this._sheet),
      evaluators(head),
      variants(head),
      slicesOf(this._sheet, this._slice),
      stability(head),
      repeats(head),
      latency(this._sheet),
      overTheRun(head),
      climb(head),
      limits(head),
    ];
    return element(
      "div",
      { class: "overview" },
      element("h1", { class: "out" }, foreign(head.report.name)),
      warnings(head),
      element(
        "div",
        { class: "first" },
        headline(head),
        append(element("div", {}), accounts(head), sentences(head)),
      ),
      append(element("div", { class: "sections" }), sections),
      howItWasRun(head),
    );
  }

  _casesAddress() {
    const question = this._cases.question;
    return question ? `#/cases?q=${encodeURIComponent(question)}` : "#/cases";
  }

  _asked(question) {
    if (!this._cases) return; // it is being made, and nobody has asked yet
    this._tabs.cases.setAttribute("href", question ? `#/cases?q=${encodeURIComponent(question)}` : "#/cases");
    if (address().view === "cases" && address().question !== question)
      history.replaceState(null, "", this._casesAddress());
  }

  // Keys

  _bindKeys() {
    const on = (key, says, action) => this._keys.on(key, says, action);
    on("/", "search in the cases", () => this._toSearch());
    on("j", "next case", () => this._step(1));
    on("k", "previous case", () => this._step(-1));
    on("ArrowDown", "next case, in the table", () => (this._view === "cases" ? this._step(1) : false));
    on("ArrowUp", "previous case, in the table", () => (this._view === "cases" ? this._step(-1) : false));
    on("Enter", "open the case", () => (this._view === "cases" ? this._cases.openChosen() : false));
    on("Escape", "back", () => this._back());
    on("?", "these keys", () => this._keys.help());
  }

  _toSearch() {
    if (this._view !== "cases") {
      go(this._casesAddress());
      this._show();
    }
    this._cases.focusField();
  }

  _step(step) {
    if (this._view === "cases") return this._cases.move(step);
    if (this._view !== "case") return false;
    const other = this._cases.neighbour(this._shown, step);
    return other === undefined ? false : go(`#/case/${other}`);
  }

  _back() {
    if (this._view === "case") go(this._casesAddress());
    else if (this._view === "cases" && this._cases.question) this._cases.ask("");
    else if (this._view === "cases") go("#/");
    else return false;
    return true;
  }

  // A run that goes on

  async _watch() {
    const before = this._sheet.version;
    let wait = SOON;
    try {
      if (document.visibilityState === "visible") {
        const pack = await this._source.sheet();
        if (pack.head.fresh) this._sheet.take(pack);
        wait = pack.head.running ? SOON : LATER;
      }
      document.documentElement.dataset.lost = "";
    } catch {
      document.documentElement.dataset.lost = "yes";
      refill(this._state, element("span", { class: "bad" }, "the server does not answer"));
      wait = LATER;
    }
    if (this._sheet.version !== before) this._renew();
    setTimeout(() => this._watch(), wait);
  }

  _renew() {
    this._name();
    this._cases.refresh();
    if (this._view === "") {
      const opened = [...this._place.querySelectorAll("details")].map((each) => each.open);
      refill(this._place, this._overview());
      for (const [at, each] of [...this._place.querySelectorAll("details")].entries())
        each.open = opened[at] ?? false;
    }
  }
}

function tab(href, says) {
  return element("a", { href }, says);
}

function go(hash) {
  location.hash = hash;
}

/** What the address names: `{view, argument, question}`. */
function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", argument = ""] = path.split("/");
  const known = view === "cases" || view === "case" ? view : "";
  return { view: known, argument, question: new URLSearchParams(query).get("q") ?? "" };
}

/** Why there is nothing to see, where even the first look has failed. */
function failed(error) {
  const says =
    typeof DecompressionStream === "undefined"
      ? "this browser is too old: it cannot unpack what is in the page"
      : error.message;
  refill(
    document.getElementById("page"),
    element("main", {}, element("p", { class: "warning" }, `This report cannot be shown: ${says}.`)),
  );
}

const from = document.documentElement.dataset.source;
new Program(from === "here" ? new Here() : new There(from)).start().catch(failed);
