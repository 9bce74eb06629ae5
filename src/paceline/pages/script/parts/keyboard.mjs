/**
 * Keys: one table from what is pressed to what is done, and help that is written from the same table.
 *
 *     const keys = new Keys();
 *     keys.on("/", "Search", focusSearch);
 *
 * While somebody writes into a field, only Escape is ours. Knows keys. What they do is for others.
 */

import { element, refill } from "./dom.mjs";

const WRITING = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

export class Keys {
  constructor(target = document) {
    this._table = new Map();
    target.addEventListener("keydown", (event) => this._pressed(event));
  }

  /** Bind a key; `says` is its line of the help, none where it is a second key for the same. */
  on(key, says, action) {
    this._table.set(key, { says, action });
  }

  _pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== "Escape" && event.target.closest?.(WRITING)) return;
    // A control keeps the keys by which it is worked.
    if ((event.key === "Enter" || event.key === " ") && event.target.closest?.("button, a, summary")) return;
    const bound = this._table.get(event.key);
    if (bound && bound.action(event) !== false) event.preventDefault();
  }

  /** A dialog that lists the keys. */
  help() {
    const rows = [...this._table]
      .filter(([, { says }]) => says)
      .map(([key, { says }]) =>
        element("div", {}, element("dt", {}, element("kbd", {}, NAMES[key] ?? key)), element("dd", {}, says)),
      );
    const dialog = element("dialog", { class: "help", "aria-label": "Keys" });
    const close = element("button", { type: "button", on: { click: () => dialog.close() } }, "Close");
    refill(dialog, element("h2", {}, "Keys"), element("dl", {}, rows), close);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }
}

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };
