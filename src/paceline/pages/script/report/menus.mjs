/**
 * The menus of the table: which cases by status, by what evaluators and metadata say, and which columns.
 *
 * They offer what there is, with its number, and say what was chosen. What follows from it is for the table.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { STANDING } from "../parts/marks.mjs";
import { count } from "../parts/numbers.mjs";
import { fields } from "../parts/query.mjs";
import { STANDINGS } from "../parts/sheet.mjs";

const MOST_OFFERED = 60;
const TOO_MANY = 300;

/** A button for each status that there is; the one that was asked for is pressed, and lets go. */
export function statusChips(counts, asked, choose) {
  return STANDINGS.flatMap((name, place) => {
    if (!counts[place] && asked !== name) return [];
    const { sign, word } = STANDING[name];
    const pressed = asked === name;
    const click = () => choose(pressed ? null : name);
    return element(
      "button",
      { type: "button", class: `chip ${name}`, "aria-pressed": String(pressed), on: { click } },
      element("span", { "aria-hidden": "true" }, `${sign} `),
      `${word} `,
      element("span", { class: "n" }, count(counts[place])),
    );
  });
}

/** One menu of all that can be filtered by: outcomes, results, labels, metadata. */
export function filterMenu(sheet, choose) {
  const offered = [
    { label: "outcome", field: "outcome", choices: outcomesOf(sheet) },
    ...fields(sheet)
      .filter(({ column }) => column)
      .map(({ label, field, column }) => ({
        label: `${label} (${column.group})`,
        field,
        choices: choicesOf(sheet, column),
      })),
  ].filter(({ choices }) => choices.length);
  const menu = element("select", { "aria-label": "Filter by", class: "menu" });
  menu.append(element("option", { value: "" }, "Filter by…"));
  for (const [place, { label, choices }] of offered.entries()) {
    const options = choices.map(({ value, n }) =>
      element("option", { value: `${place} ${value}` }, foreign(value), ` (${count(n)})`),
    );
    const group = append(element("optgroup"), options);
    group.label = label;
    menu.append(group);
  }
  menu.addEventListener("change", () => {
    const [place, ...value] = menu.value.split(" ");
    if (place) choose(offered[Number(place)].field, value.join(" "));
    menu.value = "";
  });
  return menu;
}

function outcomesOf(sheet) {
  const counts = new Map();
  for (const code of sheet.at("outcome").subarray(0, sheet.n)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return sheet.head.outcomes
    .map((value, place) => ({ value, n: counts.get(place + 1) ?? 0 }))
    .filter(({ n }) => n > 0);
}

/** The values of a column, most frequent first; none of a column of numbers, or of very many values. */
function choicesOf(sheet, column) {
  if (!column.words && column.kind !== "i8") return [];
  const counts = new Map();
  for (let row = 0; row < sheet.n; row++) {
    counts.set(column.values[row], (counts.get(column.values[row]) ?? 0) + 1);
  }
  if (counts.size > TOO_MANY) return [];
  const truth = { 1: "true", 0: "false" };
  const said = (code) => (column.words ? column.words[code] : truth[code]) || "none";
  const choices = [...counts].map(([code, n]) => ({ value: said(code), n }));
  return choices.sort((a, b) => b.n - a.n).slice(0, MOST_OFFERED);
}

/** Which columns are shown. */
export function columnMenu(columns, isShown, change) {
  const boxes = columns.map((column) => {
    const box = element("input", { type: "checkbox", checked: isShown(column) });
    box.addEventListener("change", () => change(column, box.checked));
    return element("label", {}, box, " ", foreign(column.title));
  });
  return element(
    "details",
    { class: "menu columns" },
    element("summary", {}, "Columns"),
    append(element("div", { class: "sheet-menu" }), boxes),
  );
}
