/**
 * The program of a view: the list of runs, kept up to date, and two of them beside each other.
 *
 *     /                   the list
 *     /#/pair/ID/ID       two reports
 */

import { element, refill } from "../parts/dom.mjs";
import { Keys } from "../parts/keyboard.mjs";
import { asked } from "../parts/source.mjs";
import { themeButton } from "../parts/theme.mjs";
import { RunList } from "./list.mjs";
import { pair } from "./pair.mjs";

const SOON = 2000;

class Program {
  constructor(base) {
    this._base = base;
    this._keys = new Keys();
    this._list = new RunList({ compare: (a, b) => (location.hash = `#/pair/${a}/${b}`) });
    this._place = element("main", { id: "main", tabindex: -1 });
    this._state = element("span", { class: "state", role: "status" });
  }

  async start() {
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
      element("a", { href: "/", class: "title" }, "Runs"),
      this._state,
      help,
      themeButton(),
    );
    refill(document.getElementById("page"), bar, this._place);
    document.title = "Runs · Paceline";
    this._keys.on("/", "search", () => this._list.focusField());
    this._keys.on("Escape", "back to the list", () => (location.hash ? ((location.hash = ""), true) : false));
    this._keys.on("?", "these keys", () => this._keys.help());
    window.addEventListener("hashchange", () => this._show());
    this._show();
    await this._watch();
  }

  async _show() {
    const [, view, ...ids] = location.hash.split("/");
    if (view !== "pair" || ids.length !== 2) {
      refill(this._place, this._list.node);
      return;
    }
    refill(this._place, element("p", { class: "quiet" }, "reading…"));
    const hash = location.hash;
    try {
      const sides = await Promise.all(
        ids.map(async (id) => ({ id, facts: await asked(`/run/${encodeURIComponent(id)}/report`) })),
      );
      const found = await this._compared(ids);
      if (location.hash === hash) refill(this._place, pair(sides, found));
    } catch (error) {
      refill(this._place, element("p", { class: "warning" }, `These cannot be shown: ${error.message}`));
    }
  }

  /** The comparison of two runs, or why there is none. */
  async _compared([a, b]) {
    try {
      return {
        told: await asked(`${this._base}/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`),
      };
    } catch (error) {
      return { error: error.message };
    }
  }

  async _watch() {
    try {
      if (document.visibilityState === "visible") this._list.show(await asked(`${this._base}/runs`));
      refill(this._state);
    } catch (error) {
      refill(this._state, element("span", { class: "bad" }, "the server does not answer"));
    }
    setTimeout(() => this._watch(), SOON);
  }
}

new Program(document.documentElement.dataset.source).start();
