/**
 * Orders of rows: by any column, what has no value always last, equal rows in the order of the run.
 *
 * Texts are ranked once per column ("case 2" before "case 10") and then compared as numbers, so that a second
 * click on a heading of a hundred thousand rows costs nothing. Knows sheets, and nothing of the page.
 */

const natural = new Intl.Collator("en", { numeric: true });

/** Ranks of texts: equal texts have equal ranks. */
function ranks(texts) {
  const distinct = [...new Set(texts)].sort(natural.compare);
  const rank = new Map(distinct.map((text, place) => [text, place]));
  return Float64Array.from(texts, (text) => (text === "" ? NaN : rank.get(text)));
}

/** Rows in the order of their keys (NaN is no value); `rows` and `keys` are left as they are. */
export function ordered(rows, keys, descending = false) {
  const sign = descending ? -1 : 1;
  const known = [];
  const unknown = [];
  for (const row of rows) (Number.isNaN(keys[row]) ? unknown : known).push(row);
  known.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
  return Uint32Array.from([...known, ...unknown]);
}

/** Numbers by row that order a column of a sheet. */
export function keysOf(sheet, column) {
  if (column.kind === "text") return ranks(column.values.slice(0, sheet.n));
  if (column.words) {
    const rank = column.numeric
      ? column.words.map((word) => (word ? Number(word) : NaN))
      : ranks(column.words);
    return Float64Array.from(column.values.subarray(0, sheet.n), (code) => (code ? rank[code] : NaN));
  }
  if (column.kind === "i8")
    return Float64Array.from(column.values.subarray(0, sheet.n), (v) => (v < 0 ? NaN : v));
  return column.values;
}
