/**
 * Small tables: a heading for each column, a heading for each row.
 *
 * For figures that are read, not searched; what has a row for each case is the grid. Knows the document.
 */

import { append, element } from "./dom.mjs";

/** A table of rows; a column whose title is empty needs none. */
export function table(titles, rows, look = "") {
  const heads = titles.map((title) => (title ? element("th", { scope: "col" }, title) : element("td", {})));
  const head = element("thead", {}, element("tr", {}, heads));
  return element("table", { class: `figures ${look}` }, head, append(element("tbody", {}), rows));
}

/** A row: what it is about, then its cells; a cell is its content, or a `cell`. */
export function row(about, ...cells) {
  const made = cells.map((cell) =>
    cell instanceof Cell ? element("td", { class: cell.look }, cell.content) : element("td", {}, cell),
  );
  return element("tr", {}, element("th", { scope: "row" }, about), made);
}

/** A cell that looks other than most. */
export function cell(content, look) {
  return new Cell(content, look);
}

class Cell {
  constructor(content, look) {
    Object.assign(this, { content, look });
  }
}
