/**
 * The grid: a table of which only the rows in sight exist, so that a hundred thousand cost as much as forty.
 *
 *     const grid = new Grid({ label: "Cases", open: (row) => ..., sort: (key) => ... });
 *     grid.layOut(columns);       [{key, title, untitled, width, cell(row), number, sortable}]
 *     grid.show(rows);            numbers of rows, in order
 *
 * It is a grid to screen readers too: it says how many rows there are, which one is chosen, and by which column
 * they are ordered. Knows rows as numbers. What stands in a cell is for its column to say.
 */

import { element, foreign, refill } from "./dom.mjs";

const ROW_HEIGHT = 30;
const BEYOND = 6;
const TALLEST = 12_000_000; // pixels; browsers lose count beyond some 33 million

export class Grid {
  constructor({ label, open, sort }) {
    this._open = open;
    this._sort = sort;
    this._rows = new Uint32Array();
    this._columns = [];
    this._drawn = new Map();
    this._chosen = 0;
    this._order = { key: "", descending: false };
    this._head = element("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 });
    this._body = element("div", { class: "grid-body", role: "rowgroup" });
    this.node = element(
      "div",
      { class: "grid", role: "grid", tabindex: 0, "aria-label": label, "aria-readonly": "true" },
      element("div", { role: "rowgroup", class: "grid-top" }, this._head),
      this._body,
    );
    this.node.addEventListener("scroll", () => this._later());
    this.node.addEventListener("keydown", (event) => this._pressed(event));
    this._body.addEventListener("click", (event) => this._clicked(event));
    new ResizeObserver(() => this._later()).observe(this.node);
  }

  /** Say which columns there are. */
  layOut(columns) {
    this._columns = columns;
    this.node.setAttribute("aria-colcount", columns.length);
    this.node.style.setProperty("--columns", columns.map(({ width }) => width).join(" "));
    refill(
      this._head,
      columns.map((column) => this._heading(column)),
    );
    this.draw();
  }

  _heading(column) {
    const { key, descending } = this._order;
    const sorted = key === column.key ? (descending ? "descending" : "ascending") : "none";
    const sign = sorted === "none" ? "" : descending ? " ↓" : " ↑";
    const title = element("span", { class: column.untitled ? "out" : null }, foreign(column.title));
    const inside = column.sortable
      ? element(
          "button",
          { type: "button", tabindex: -1, on: { click: () => this._sort(column.key) } },
          title,
          sign,
        )
      : title;
    const look = `grid-cell${column.number ? " number" : ""}`;
    return element(
      "div",
      {
        class: look,
        role: "columnheader",
        "aria-sort": column.sortable ? sorted : null,
        title: column.untitled ? column.title : null,
      },
      inside,
    );
  }

  /** Say by which column the rows are in order. */
  order(key, descending) {
    this._order = { key, descending };
    refill(
      this._head,
      this._columns.map((column) => this._heading(column)),
    );
  }

  /** Show these rows, in this order; the chosen one stays chosen where it is among them. */
  show(rows, { keep = true } = {}) {
    const before = this.chosen;
    this._rows = rows;
    const place = keep && before !== undefined ? rows.indexOf(before) : -1;
    this._chosen = place >= 0 ? place : 0;
    if (place < 0) this.node.scrollTop = 0;
    this.node.setAttribute("aria-rowcount", rows.length + 1);
    this._body.style.height = `${Math.min(rows.length * ROW_HEIGHT, TALLEST)}px`;
    this.draw();
  }

  /** The row that is chosen. */
  get chosen() {
    return this._rows[this._chosen];
  }

  /** Choose a row, and bring it into sight. */
  choose(row) {
    const place = this._rows.indexOf(row);
    if (place >= 0) this._choosePlace(place);
  }

  /** Choose the next row, or the one so many further. */
  move(steps) {
    this._choosePlace(this._chosen + steps);
  }

  _choosePlace(place) {
    if (!this._rows.length) return;
    this._chosen = Math.max(0, Math.min(this._rows.length - 1, place));
    const [top, height] = [this._chosen * ROW_HEIGHT, this._height];
    const shown = this._scrolled;
    if (top < shown) this._scrollTo(top);
    else if (top + ROW_HEIGHT > shown + height) this._scrollTo(top + ROW_HEIGHT - height);
    this._mark();
    this.draw();
  }

  /** Height of what is in sight of the body. */
  get _height() {
    return Math.max(ROW_HEIGHT, this.node.clientHeight - this._head.offsetHeight);
  }

  get _shrunk() {
    return Math.max(1, (this._rows.length * ROW_HEIGHT) / TALLEST);
  }

  get _scrolled() {
    return this.node.scrollTop * this._shrunk;
  }

  _scrollTo(place) {
    this.node.scrollTop = place / this._shrunk;
  }

  _later() {
    if (this._waits) return;
    this._waits = true;
    requestAnimationFrame(() => {
      this._waits = false;
      this._draw(false);
    });
  }

  /** Draw what is in sight anew. */
  draw() {
    this._draw(true);
  }

  _draw(anew) {
    const first = Math.max(0, Math.floor(this._scrolled / ROW_HEIGHT) - BEYOND);
    const last = Math.min(this._rows.length, first + Math.ceil(this._height / ROW_HEIGHT) + 2 * BEYOND);
    for (const [place, node] of this._drawn) {
      if (!anew && place >= first && place < last) continue;
      node.remove();
      this._drawn.delete(place);
    }
    const shift = this.node.scrollTop - this._scrolled;
    const fresh = document.createDocumentFragment();
    for (let place = first; place < last; place++) {
      let node = this._drawn.get(place);
      if (!node) {
        node = this._row(place);
        this._drawn.set(place, node);
        fresh.append(node);
      }
      node.style.transform = `translateY(${place * ROW_HEIGHT + shift}px)`;
    }
    this._body.append(fresh);
    this._mark();
  }

  _row(place) {
    const row = this._rows[place];
    const cells = this._columns.map((column) =>
      element(
        "div",
        { class: `grid-cell ${column.look ?? ""}${column.number ? " number" : ""}`, role: "gridcell" },
        column.cell(row),
      ),
    );
    return element(
      "div",
      { class: "grid-row", role: "row", id: `row-${row}`, "aria-rowindex": place + 2, "data-place": place },
      cells,
    );
  }

  _mark() {
    for (const [place, node] of this._drawn) {
      node.classList.toggle("chosen", place === this._chosen);
      node.setAttribute("aria-selected", place === this._chosen);
    }
    const chosen = this._drawn.get(this._chosen);
    if (chosen) this.node.setAttribute("aria-activedescendant", chosen.id);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** Draw all rows up to a number, for paper. */
  unroll(most) {
    for (const node of this._drawn.values()) node.remove();
    this._drawn.clear();
    for (let place = 0; place < Math.min(most, this._rows.length); place++) {
      const node = this._row(place);
      this._drawn.set(place, node);
      this._body.append(node);
    }
  }

  _pressed(event) {
    if (event.target !== this.node || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this._height / ROW_HEIGHT) - 1);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    }[event.key];
    if (steps !== undefined) this.move(Number.isFinite(steps) ? steps : Math.sign(steps) * this._rows.length);
    else if (event.key === "Enter" && this.chosen !== undefined) this._open(this.chosen);
    else return;
    event.preventDefault();
  }

  _clicked(event) {
    const place = Number(event.target.closest("[data-place]")?.dataset.place ?? -1);
    if (place < 0 || document.getSelection()?.toString()) return;
    this._choosePlace(place);
    this._open(this._rows[place]);
  }
}
