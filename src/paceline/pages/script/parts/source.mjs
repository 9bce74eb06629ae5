/**
 * Sources: where a page has its data from.
 *
 *     here      elements of the document itself, packed; for a file that asks nobody
 *     there     the server that the page came from; for a run that goes on
 *
 * Both have `sheet()`, which answers a pack, `text(row)`, the body of one case as JSON, and `chunks()`, which
 * goes through the bodies that it has not gone through yet, for a search. Knows packs. Knows nothing of what is
 * in them.
 */

import { bytesOf, inflated, unpacked } from "./packing.mjs";

const KEPT = 24;

/** A source in this document. */
export class Here {
  constructor(page = document) {
    this._page = page;
    this._kept = new Map();
    this._read = 0;
    this._whole = new Promise((done) => {
      if (page.readyState !== "loading") done();
      else page.addEventListener("DOMContentLoaded", () => done(), { once: true });
    });
    this.live = false;
  }

  async sheet() {
    const found = this._page.getElementById("sheet");
    if (!found) throw new Error("the file was cut off");
    const pack = unpacked(await inflated(bytesOf(found.textContent)));
    this._starts = pack.head.starts;
    return pack;
  }

  /** The body of a row, as JSON. */
  async text(row) {
    const place = placeOf(this._starts, row);
    const chunk = await this._chunk(place);
    return chunk[row - this._starts[place]];
  }

  /** The body of a row if it is at hand; undefined where it has to be waited for. */
  atHand(row) {
    const place = placeOf(this._starts, row);
    const chunk = this._kept.get(place);
    return Array.isArray(chunk) ? chunk[row - this._starts[place]] : undefined;
  }

  /** All bodies, a chunk at a time and each once: `{first, text, share}`. */
  async *chunks() {
    for (; this._read < this._starts.length; this._read++) {
      const text = await this._text(this._read);
      yield { first: this._starts[this._read], text, share: (this._read + 1) / this._starts.length };
    }
  }

  async _chunk(place) {
    if (!this._kept.has(place)) {
      if (this._kept.size >= KEPT) this._kept.delete(this._kept.keys().next().value);
      const lines = this._text(place).then((text) => text.split("\n"));
      this._kept.set(place, lines);
      lines.then((found) => this._kept.get(place) === lines && this._kept.set(place, found));
    }
    return this._kept.get(place);
  }

  async _text(place) {
    const name = `bodies-${this._starts[place]}`;
    if (!this._page.getElementById(name)?.nextElementSibling) await this._whole;
    const found = this._page.getElementById(name);
    if (!found) throw new Error("the file was cut off before this case");
    return new TextDecoder().decode(await inflated(bytesOf(found.textContent)));
  }
}

/** The place in `starts` of the chunk that holds a row. */
function placeOf(starts, row) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const half = (low + high) >> 1;
    if (starts[half] <= row) low = half;
    else high = half;
  }
  return low;
}

/** A JSON document that stands in this one. */
export async function inHere(name, page = document) {
  return JSON.parse(new TextDecoder().decode(await inflated(bytesOf(page.getElementById(name).textContent))));
}

/** JSON from the server that the page came from. */
export async function asked(address) {
  return (await answered(address)).json();
}

async function answered(address) {
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answers ${answer.status}`);
  return answer;
}

/** A source at the server that the page came from: a pack holds what has changed since the one before. */
export class There {
  constructor(base) {
    this._base = base;
    this._kept = new Map();
    this._unread = new Set();
    this._seen = 0;
    this._rows = 0;
    this.live = true;
  }

  async sheet() {
    const answer = await answered(`${this._base}/sheet?since=${this._seen}`);
    const pack = unpacked(new Uint8Array(await answer.arrayBuffer()));
    const { seen, epoch, rows, step } = pack.head;
    // Another run lies where this one was: nothing that is shown is true any more.
    if (this._epoch !== undefined && this._epoch !== epoch) location.reload();
    Object.assign(this, { _seen: seen, _epoch: epoch, _rows: rows, _step: step });
    const changed = pack.columns.find((column) => column.name === "row" && column.group === "");
    if (pack.head.fresh)
      this._forget(changed ? changed.values : Array.from({ length: rows }, (_, row) => row));
    return pack;
  }

  /** What is kept of these rows is no longer what the server has. */
  _forget(rows) {
    for (const row of rows) {
      const place = Math.floor(row / this._step);
      this._kept.delete(place);
      this._unread.add(place);
    }
  }

  async text(row) {
    const lines = await this._chunk(Math.floor(row / this._step));
    return lines[row % this._step];
  }

  atHand(row) {
    const chunk = this._kept.get(Math.floor(row / this._step));
    return Array.isArray(chunk) ? chunk[row % this._step] : undefined;
  }

  /** Those bodies that were not gone through yet, or have changed since: `{first, text, share}`. */
  async *chunks() {
    while (this._unread.size) {
      const place = this._unread.values().next().value;
      this._unread.delete(place);
      const many = Math.ceil(this._rows / this._step) || 1;
      const text = await this._text(place);
      yield { first: place * this._step, text, share: 1 - this._unread.size / many };
    }
  }

  async _chunk(place) {
    if (!this._kept.has(place)) {
      if (this._kept.size >= KEPT) this._kept.delete(this._kept.keys().next().value);
      const lines = this._text(place).then((text) => text.split("\n"));
      this._kept.set(place, lines);
      lines.then(
        (found) => this._kept.get(place) === lines && this._kept.set(place, found),
        () => this._kept.get(place) === lines && this._kept.delete(place),
      );
    }
    return this._kept.get(place);
  }

  async _text(place) {
    return (await answered(`${this._base}/bodies?from=${place * this._step}`)).text();
  }
}
