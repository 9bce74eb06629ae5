/**
 * Search in the texts of all cases: inputs, outputs, reasons, errors.
 *
 * Texts come in chunks, a case on each line, as JSON; what stands behind a tab is not searched. What is looked
 * for is written as JSON too, so that a line break or a quotation mark is found where it stands. Each chunk is
 * kept once, in small letters, and a row is done with at its first hit: a word that is everywhere costs as
 * little as one that is nowhere.
 *
 * Knows strings and rows. Who has loaded the chunks is the source's business.
 */

export class Search {
  constructor() {
    this._chunks = new Map();
    this._names = null;
  }

  /** Names of all rows, which are searched beside the texts. */
  name(names) {
    this._names = indexed(names.map((name) => name.replaceAll("\n", " ")).join("\n"), 0);
  }

  /** The text of a chunk, whose first line is this row. */
  add(first, text) {
    this._chunks.set(first, indexed(text.replace(/\t[^\n]*/g, ""), first));
  }

  /** Rows where the text stands, as a mask; `within` are rows worth looking at. */
  find(text, within) {
    const found = new Uint8Array(within.length);
    if (this._names) mark(this._names, text.toLowerCase(), within, found);
    const asWritten = JSON.stringify(text).slice(1, -1).toLowerCase();
    for (const chunk of this._chunks.values()) mark(chunk, asWritten, within, found);
    return found;
  }
}

function indexed(text, first) {
  const small = text.toLowerCase();
  const starts = [0];
  for (let at = small.indexOf("\n"); at >= 0; at = small.indexOf("\n", at + 1)) starts.push(at + 1);
  return { small, first, starts: Uint32Array.from(starts) };
}

function mark({ small, first, starts }, text, within, found) {
  let line = 0;
  for (let at = small.indexOf(text); at >= 0; at = small.indexOf(text, starts[line])) {
    line = lineOf(starts, at, line);
    const row = first + line;
    if (row < within.length && within[row]) found[row] = 1;
    if (++line >= starts.length) break;
  }
}

/** The line that a place is on, at or after `from`: near ones are found by walking, far ones by halving. */
function lineOf(starts, at, from) {
  let low = from;
  let step = 1;
  while (low + step < starts.length && starts[low + step] <= at) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, starts.length);
  while (high - low > 1) {
    const half = (low + high) >> 1;
    if (starts[half] <= at) low = half;
    else high = half;
  }
  return low;
}
