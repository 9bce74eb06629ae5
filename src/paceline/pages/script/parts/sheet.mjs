/**
 * The sheet: all cases of a run in columns, and what of them changes while a run goes on.
 *
 *     sheet.at("outcome")[row]                  one of the columns that every sheet has
 *     sheet.column("assertion", "Equals")       one of those that evaluators, metrics or metadata bring along
 *
 * A column is `{group, name, kind, values, words}`; its `values` are numbers by row, codes for `words` where
 * there are any, and `missing` where a row has none. Knows columns. Knows nothing of files or of the page.
 */

const OPEN = 0;
const PASSED = 1;
const NOT_PASSED = 0;
const UNASSERTED = -1;
const UNSCORED = -2;

const BLANKS = { i8: -1, u8: 0, u16: 0, u32: 0, f32: NaN, f64: NaN };
const ARRAYS = {
  i8: Int8Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
};
const NOT_RUN = new Set(["cancelled", "skipped_budget"]);

export class Sheet {
  constructor() {
    this.head = { columns: [], outcomes: [], causes: [] };
    this.n = 0;
    this._columns = new Map();
    this._standings = null;
    this.version = 0;
  }

  /** Take a pack: all rows, or those that have changed since the one before. */
  take({ head, columns }) {
    this.head = head;
    const rows = columns.find((column) => column.name === "row" && column.group === "")?.values ?? null;
    this.n = Math.max(this.n, head.rows);
    for (const column of columns) if (column.name !== "row" || column.group !== "") this._merge(column, rows);
    for (const column of this._columns.values()) this._stretch(column);
    this._standings = null;
    this.version++;
  }

  _merge({ values, rows: places, at, bytes, rows_at, ...said }, rows) {
    const key = `${said.group}/${said.name}`;
    const missing = missingOf(said.kind);
    if (rows === null && places === null && values.length === this.n) {
      this._columns.set(key, { ...said, values, missing });
      return;
    }
    const before = rows === null ? undefined : this._columns.get(key);
    const column = { ...said, values: before?.values ?? blank(said.kind, this.n), missing };
    this._stretch(column);
    this._columns.set(key, column);
    const where = rows ?? places;
    for (let place = 0; place < values.length; place++)
      column.values[where ? where[place] : place] = values[place];
  }

  _stretch(column) {
    if (column.values.length >= this.n) return;
    const longer = blank(
      column.kind,
      Math.max(this.n, column.kind === "text" ? 0 : 2 * column.values.length),
    );
    if (column.kind === "text") for (const [row, text] of column.values.entries()) longer[row] = text;
    else longer.set(column.values);
    column.values = longer;
  }

  /** The values of a column that has no group; undefined where this run has no such column. */
  at(name) {
    return this._columns.get(`/${name}`)?.values;
  }

  /** A column by its group and name. */
  column(group, name) {
    return this._columns.get(`${group}/${name}`);
  }

  /** All columns of a group, in the order of the run. */
  group(group) {
    return [...this._columns.values()].filter((column) => column.group === group);
  }

  /** How a row stands: passed, failed, unasserted, notrun, open, or error. */
  standing(row) {
    return STANDINGS[this.standings()[row]];
  }

  /** The same of all rows, as places in `STANDINGS`. */
  standings() {
    if (this._standings === null) {
      const [outcome, verdict] = [this.at("outcome"), this.at("verdict")];
      const places = this.head.outcomes.map((name) => (NOT_RUN.has(name) ? NOT_RUN_PLACE : ERROR_PLACE));
      this._standings = new Uint8Array(this.n);
      for (let row = 0; row < this.n; row++) {
        const code = outcome[row];
        this._standings[row] =
          code === OPEN
            ? OPEN_PLACE
            : this.head.outcomes[code - 1] === "scored"
              ? BY_VERDICT[verdict[row]]
              : places[code - 1];
      }
    }
    return this._standings;
  }

  /** The name of a row's outcome; empty while it has none. */
  outcome(row) {
    const code = this.at("outcome")[row];
    return code === OPEN ? "" : this.head.outcomes[code - 1];
  }

  /** What a row is called, as reports do it. */
  name(row) {
    const repeat = this.at("repeat")?.[row] ?? 0;
    const name = this.at("case")[row] ?? "";
    return this.head.repeat > 1 ? `${name} [${repeat + 1}/${this.head.repeat}]` : name;
  }

  /** The variant of a row; empty for the default one. */
  variant(row) {
    const column = this.column("", "variant");
    return column ? column.words[column.values[row]] : "";
  }

  /** Rows of the same case and variant, itself included. */
  siblings(row) {
    const [name, variant] = [this.at("case")[row], this.variant(row)];
    const rows = [];
    for (let other = 0; other < this.n; other++) {
      if (this.at("case")[other] === name && this.variant(other) === variant) rows.push(other);
    }
    return rows;
  }

  /** Whether rows hang together: as repeats of a case, its variants, or by a field that the report goes by. */
  get grouped() {
    return (
      this.head.repeat > 1 || Boolean(this.head.clustered_by) || this.column("", "variant") !== undefined
    );
  }

  /** By row, a number that it shares with the rows that it hangs together with. */
  groups() {
    if (this._groups?.version === this.version) return this._groups.ids;
    const known = new Map();
    const names = this.at("case");
    const field = this.head.clustered_by ? this.column("metadata", this.head.clustered_by) : undefined;
    const ids = new Uint32Array(this.n);
    for (let row = 0; row < this.n; row++) {
      // What says nothing in the field stands for itself.
      const says = field && (field.words ? field.values[row] > 0 : !Number.isNaN(field.values[row]));
      const name = says ? `f${field.values[row]}` : `c${names[row]}`;
      let id = known.get(name);
      if (id === undefined) known.set(name, (id = known.size));
      ids[row] = id;
    }
    this._groups = { version: this.version, ids };
    return ids;
  }
}

/** How a row can stand, in the order in which reports name them. */
export const STANDINGS = ["passed", "failed", "error", "unasserted", "notrun", "open"];
const [ERROR_PLACE, NOT_RUN_PLACE, OPEN_PLACE] = [2, 4, 5];
const BY_VERDICT = { [PASSED]: 0, [NOT_PASSED]: 1, [UNASSERTED]: 3, [UNSCORED]: 1 };

/** What stands in a column for a row that has no value. */
function missingOf(kind) {
  return kind === "text" ? "" : BLANKS[kind];
}

function blank(kind, n) {
  return kind === "text" ? new Array(n).fill("") : new ARRAYS[kind](n).fill(BLANKS[kind]);
}
