/**
 * Texts of a case on the page: long ones in a box that scrolls, two beside each other with what differs marked.
 *
 * What is longer than is pleasant is folded, what the file does not have of it is said. Knows values and the
 * document; what differs is `difference`'s to say.
 */

import { append, element, foreign, refill } from "../parts/dom.mjs";
import { difference } from "../parts/diff.mjs";
import { count } from "../parts/numbers.mjs";
import { shown, unwrapped } from "../parts/values.mjs";

const FOLDED = 12_000;

/** A titled box with a value in it. */
export function panel(title, value, { cut, note, parts } = {}) {
  const { type } = unwrapped(value);
  const heading = element(
    "h2",
    {},
    title,
    type ? element("span", { class: "type" }, foreign(type)) : null,
    note ? element("span", { class: "quiet" }, note) : null,
  );
  return append(
    element("div", { class: "panel" }, heading),
    parts ? pieces(parts) : longText(shown(value)),
    cutNote(cut),
  );
}

/** Text in a box; the end of a very long one comes when it is asked for. */
export function longText(text, look = "") {
  const box = element("pre", { class: `value ${look}`, tabindex: 0, dir: null });
  if (text === "") return append(box, element("span", { class: "quiet" }, "empty"));
  if (text.length <= FOLDED) return append(box, foreign(text));
  const rest = element(
    "button",
    { type: "button", on: { click: () => refill(box, foreign(text)) } },
    `show all ${count(text.length)} characters`,
  );
  return append(box, foreign(text.slice(0, FOLDED)), "… ", rest);
}

function pieces(parts) {
  return append(
    element("pre", { class: "value", tabindex: 0 }),
    parts.map(({ op, text }) =>
      op === "same" ? foreign(text) : element(op === "gone" ? "ins" : "del", {}, foreign(text)),
    ),
  );
}

/** Says that a value is longer than the page has it. */
function cutNote(cut) {
  if (!cut) return null;
  return element(
    "p",
    { class: "warning" },
    `Only the beginning: the value has ${count(cut)} bytes. `,
    element("code", {}, "paceline report --case"),
    " shows all of it.",
  );
}

/** What was expected beside what came, with what differs marked in both. */
export function comparison(expected, output, cut) {
  const [wanted, got] = [shown(expected), shown(output)];
  if (cut.expected || cut.output || wanted.length + got.length > 400_000) {
    return [panel("Expected", expected, { cut: cut.expected }), panel("Output", output, { cut: cut.output })];
  }
  if (wanted === got)
    return [panel("Expected", expected), panel("Output", output, { note: "the same to the letter" })];
  const parts = difference(wanted, got);
  const only = (op) => parts.filter((part) => part.op === "same" || part.op === op);
  return [
    panel("Expected", expected, { parts: only("gone"), note: "marked: not in the output" }),
    panel("Output", output, { parts: only("new"), note: "marked: not expected" }),
  ];
}

/** A patch, its lines coloured by what they do. */
export function patch(title, text, cut) {
  const box = element("pre", { class: "value patch", tabindex: 0 });
  const lines = text.replace(/\n$/, "").split("\n");
  for (const line of lines.slice(0, 3000)) {
    const look = /^(?:\+\+\+|---|diff |index )/.test(line)
      ? "file"
      : { "+": "added", "-": "removed", "@": "place" }[line[0]];
    append(box, element("span", { class: look ?? null }, foreign(line)), "\n");
  }
  if (lines.length > 3000)
    append(box, element("span", { class: "quiet" }, `${count(lines.length - 3000)} more lines`));
  return append(element("div", { class: "panel wide" }, element("h2", {}, title)), box, cutNote(cut));
}
