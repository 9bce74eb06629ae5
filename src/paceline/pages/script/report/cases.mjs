/**
 * The table of cases: search, filter, order, and the way to each of them.
 *
 * The question in the search field is the only state: menus and buttons write into it, and the address of the
 * page holds it, so that a view can be sent to somebody. Knows sheets, the source of texts, and the grid.
 */

import { element, foreign, refill } from "../parts/dom.mjs";
import { Grid } from "../parts/grid.mjs";
import { count, percent } from "../parts/numbers.mjs";
import { masked, parsed, written } from "../parts/query.mjs";
import { Search } from "../parts/search.mjs";
import { STANDINGS } from "../parts/sheet.mjs";
import { figures } from "../parts/slices.mjs";
import { keysOf, ordered } from "../parts/sorting.mjs";
import { columnsOf, textOf } from "./columns.mjs";
import { columnMenu, filterMenu, statusChips } from "./menus.mjs";

const PAPER_ROWS = 500;
const SHOWN_EVERY = 250; // milliseconds, while texts are read
/** Fields that choose cases by how they ended: their pass rate would say nothing. */
const ABOUT_THE_END = new Set(["is", "outcome", "cause"]);

export class CasesView {
  constructor(sheet, source, { open, changed }) {
    Object.assign(this, { _sheet: sheet, _source: source, _open: open, _changed: changed });
    this._search = new Search();
    this._share = 0;
    this._order = { key: "", descending: false };
    this._orders = new Map();
    this._hidden = new Map();
    this._snippets = new Map();
    this._build();
    this.refresh();
  }

  // What it consists of

  _build() {
    this._field = element("input", {
      type: "search",
      id: "question",
      class: "question",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Search, or  is:failed  topic:algebra  time>2",
      "aria-label": "Search and filter cases",
      on: { input: () => this.apply(), keydown: (event) => this._fieldKey(event) },
    });
    this._chips = element("div", { class: "chips", role: "group", "aria-label": "Status" });
    this._menus = element("div", { class: "menus" });
    this._told = element("p", { class: "told", role: "status", "aria-live": "polite" });
    this._grid = new Grid({
      label: "Cases",
      open: (row) => this._open(row),
      sort: (key) => this._sortBy(key),
    });
    const bar = element("div", { class: "cases-bar" }, this._field, this._chips, this._menus);
    this.node = element(
      "section",
      { class: "cases" },
      element("h1", { class: "out" }, "Cases"),
      bar,
      this._told,
      this._grid.node,
    );
    window.addEventListener("beforeprint", () => this.node.isConnected && this._grid.unroll(PAPER_ROWS));
    window.addEventListener("afterprint", () => this.node.isConnected && this._grid.draw());
  }

  _fieldKey(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") this._grid.node.focus();
    else if (event.key === "Escape" && this._field.value) this.ask("");
    else if (event.key === "Escape") this._grid.node.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The sheet has changed: columns, menus and rows anew. */
  refresh() {
    this._orders.clear();
    this._snippets.clear();
    this._columns = columnsOf(this._sheet, (row, name) => this._text(row, name));
    this._layOut();
    this._drawMenus();
    this.apply();
  }

  _layOut() {
    const shown = this._columns.filter((column) => this._hidden.get(column.key) ?? column.shown);
    this._grid.layOut(shown.map((column) => ({ ...column, sortable: Boolean(column.sorts) })));
  }

  /** What a cell shows of a text; where it has to be fetched, the cell is filled when it is there. */
  _text(row, name) {
    const key = `${row} ${name}`;
    const known = this._snippets.get(key);
    if (known !== undefined) return known.cloneNode(true);
    const body = this._source.atHand(row);
    if (body !== undefined) return this._keepText(key, body, name).cloneNode(true);
    const cell = element("span", { class: "pending" }, "…");
    const version = this._sheet.version;
    this._source.text(row).then(
      (text) => {
        if (version === this._sheet.version)
          cell.replaceWith(this._keepText(key, text, name).cloneNode(true));
      },
      () => refill(cell, "?"),
    );
    return cell;
  }

  _keepText(key, body, name) {
    if (this._snippets.size > 2000) this._snippets.clear();
    const made = element("span", {}, textOf(body, this._sheet.head.layout, name));
    this._snippets.set(key, made);
    return made;
  }

  // What is asked

  /** Put a question. */
  ask(text) {
    this._field.value = text;
    this.apply();
  }

  get question() {
    return this._field.value;
  }

  focus() {
    this._grid.node.focus({ preventScroll: true });
  }

  focusField() {
    this._field.focus();
    this._field.select();
  }

  move(steps) {
    this._grid.move(steps);
  }

  openChosen() {
    if (this._grid.chosen !== undefined) this._open(this._grid.chosen);
  }

  choose(row) {
    this._grid.choose(row);
  }

  /** The row before or after one, in the order that is shown. */
  neighbour(row, step) {
    const place = this._rows.indexOf(row);
    return place < 0 ? undefined : this._rows[place + step];
  }

  place(row) {
    return { at: this._rows.indexOf(row) + 1, of: this._rows.length };
  }

  /** Answer the question in the field. */
  apply() {
    const terms = parsed(this._field.value);
    const { mask, unknown } = masked(
      this._sheet,
      terms.filter((term) => term.field !== "is"),
    );
    const words = terms.filter((term) => "word" in term);
    if (words.length) this._lookFor(words, mask);
    const standings = masked(
      this._sheet,
      terms.filter((term) => term.field === "is"),
    );
    this._drawChips(mask, terms);
    for (let row = 0; row < mask.length; row++) mask[row] &= standings.mask[row];
    this._rows = this._inOrder(mask);
    this._grid.show(this._rows);
    this._tell([...unknown, ...standings.unknown], terms);
    this._changed(this._field.value, this._order);
  }

  _lookFor(words, mask) {
    if (this._named !== this._sheet.version) this._search.name(this._sheet.at("case"));
    this._named = this._sheet.version;
    this._readAll();
    for (const { word, not } of words) {
      const found = this._search.find(word, mask);
      for (let row = 0; row < mask.length; row++) if (mask[row] && Boolean(found[row]) === not) mask[row] = 0;
    }
  }

  /** Go through the texts that were not read yet, while the reader goes on; what is found is shown soon. */
  async _readAll() {
    if (this._reading) return;
    this._reading = true;
    let [some, shown] = [false, performance.now()];
    try {
      for await (const { first, text, share } of this._source.chunks()) {
        this._search.add(first, text);
        [some, this._share] = [true, share];
        if (performance.now() - shown < SHOWN_EVERY) continue;
        this.apply();
        await new Promise((done) => setTimeout(done));
        shown = performance.now();
      }
      this._share = 1;
    } catch {
      this._share = Math.min(this._share, 0.999); // a server that is gone: what is missing is said to be
    } finally {
      this._reading = false;
    }
    if (some) this.apply();
  }

  _inOrder(mask) {
    const rows = [];
    const order = this._wholeOrder();
    if (order === null) for (let row = 0; row < mask.length; row++) mask[row] && rows.push(row);
    else for (const row of order) if (mask[row]) rows.push(row);
    return Uint32Array.from(rows);
  }

  /** All rows in the chosen order, kept until the sheet changes; null for the order of the run. */
  _wholeOrder() {
    const { key, descending } = this._order;
    const column = this._columns.find((each) => each.key === key);
    if (!column?.sorts) return null;
    const name = `${key} ${descending}`;
    if (!this._orders.has(name)) {
      const keys = column.sorts((each) => keysOf(this._sheet, each));
      this._orders.set(
        name,
        ordered(
          Uint32Array.from({ length: this._sheet.n }, (_, row) => row),
          keys,
          descending,
        ),
      );
    }
    return this._orders.get(name);
  }

  _sortBy(key) {
    const { key: before, descending } = this._order;
    if (before !== key) this.sort({ key, descending: false });
    else this.sort(descending ? { key: "", descending: false } : { key, descending: true });
  }

  /** Put the rows in an order; an empty key is that of the run. */
  sort(order) {
    this._order = order;
    this._grid.order(order.key, order.descending);
    this.apply();
  }

  // What is said and offered

  _tell(unknown, asked) {
    const found = figures(this._sheet, this._rows);
    const whole = this._rows.length === this._sheet.n;
    const said = [
      element("strong", {}, count(this._rows.length)),
      whole ? ` ${this._rows.length === 1 ? "case" : "cases"} begun` : ` of ${count(this._sheet.n)} cases`,
    ];
    if (found.rate !== null && !asked.some(({ field }) => ABOUT_THE_END.has(field))) {
      const range = found.bounds ? ` (${percent(found.bounds.low)} to ${percent(found.bounds.high)})` : "";
      said.push(` · ${percent(found.rate)}${range} of the ${count(found.of)} that were run passed`);
    }
    if (asked.some((term) => "word" in term) && this._share < 1)
      said.push(element("span", { class: "quiet" }, ` · reading texts: ${Math.floor(this._share * 100)} %`));
    if (unknown.length)
      said.push(element("span", { class: "bad" }, " · nothing here is called ", foreign(unknown.join(", "))));
    refill(this._told, said);
  }

  _drawChips(mask, terms) {
    const counts = new Array(STANDINGS.length).fill(0);
    const standings = this._sheet.standings();
    for (let row = 0; row < mask.length; row++) counts[standings[row]] += mask[row];
    const asked = terms.find((term) => term.field === "is" && !term.not)?.value;
    refill(
      this._chips,
      statusChips(counts, asked, (name) => this._with("is", name)),
    );
  }

  /** Ask for one value of a field in place of the one before; null asks for any. */
  _with(field, value) {
    const others = parsed(this._field.value).filter((term) => term.field !== field);
    this.ask(written(value === null ? others : [...others, { field, op: ":", value, not: false }]));
  }

  _drawMenus() {
    const columns = columnMenu(
      this._columns.filter(({ key }) => key !== "is" && key !== "case"),
      (column) => this._hidden.get(column.key) ?? column.shown,
      (column, on) => {
        this._hidden.set(column.key, on);
        this._layOut();
      },
    );
    refill(
      this._menus,
      filterMenu(this._sheet, (field, value) => this._with(field, value)),
      columns,
    );
  }
}
