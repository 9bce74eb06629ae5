/**
 * Sources: where a page has its data from.
 *
 *     here      elements of the document itself, packed; for a file that asks nobody
 *     there     the server that the page came from; for a run that goes on
 *
 * Both have `sheet()`, which answers a pack, `text(row)`, the body of one case as JSON, and `chunks()`, which
 * goes through all bodies for a search. Knows packs. Knows nothing of what is in them.
 */

import { bytesOf, inflated, unpacked } from "./packing.mjs";

const KEPT = 24;

/** A source in this document. */
export class Here {
  constructor(page = document) {
    this._page = page;
    this._kept = new Map();
    this._whole = new Promise((done) => {
      if (page.readyState !== "loading") done();
      else page.addEventListener("DOMContentLoaded", () => done(), { once: true });
    });
    this.live = false;
  }

  async sheet() {
    const pack = unpacked(await inflated(bytesOf(this._page.getElementById("sheet").textContent)));
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

  /** All bodies, a chunk at a time: `{first, text, share}`. */
  async *chunks() {
    for (const [place, first] of this._starts.entries()) {
      yield { first, text: await this._text(place), share: (place + 1) / this._starts.length };
    }
  }

  async _chunk(place) {
    if (!this._kept.has(place)) {
      if (this._kept.size >= KEPT) this._kept.delete(this._kept.keys().next().value);
      this._kept.set(place, this._text(place).then((text) => text.split("\n")));
    }
    const lines = await this._kept.get(place);
    if (this._kept.has(place)) this._kept.set(place, lines);
    return lines;
  }

  async _text(place) {
    const name = `bodies-${this._starts[place]}`;
    if (!this._page.getElementById(name)?.nextElementSibling) await this._whole;
    const found = this._page.getElementById(name);
    return new TextDecoder().decode(await inflated(bytesOf(found.textContent)));
  }
}

/** The place in `starts` of the chunk that holds a row. */
export function placeOf(starts, row) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const half = (low + high) >> 1;
    if (starts[half] <= row) low = half;
    else high = half;
  }
  return low;
}

/** A source at the server that the page came from; `since` makes a pack hold what has changed. */
export class There {
  constructor(base) {
    this._base = base;
    this._kept = new Map();
    this._seen = 0;
    this.live = true;
  }

  async sheet() {
    const answer = await fetch(`${this._base}/sheet?since=${this._seen}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    const pack = unpacked(new Uint8Array(await answer.arrayBuffer()));
    this._seen = pack.head.seen;
    this._rows = pack.head.rows;
    this._step = pack.head.step;
    const changed = pack.columns.find((column) => column.name === "row" && column.group === "");
    if (changed) for (const row of changed.values) this._kept.delete(Math.floor(row / this._step));
    else this._kept.clear();
    return pack;
  }

  async text(row) {
    const lines = await this._chunk(Math.floor(row / this._step));
    return lines[row % this._step];
  }

  atHand(row) {
    const chunk = this._kept.get(Math.floor(row / this._step));
    return Array.isArray(chunk) ? chunk[row % this._step] : undefined;
  }

  async *chunks() {
    const many = Math.ceil(this._rows / this._step);
    for (let place = 0; place < many; place++) {
      const lines = await this._chunk(place);
      yield { first: place * this._step, text: lines.join("\n"), share: (place + 1) / many };
    }
  }

  async _chunk(place) {
    if (!this._kept.has(place)) {
      const asked = fetch(`${this._base}/bodies?from=${place * this._step}`, { cache: "no-store" }).then(async (answer) => {
        if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
        return (await answer.text()).split("\n");
      });
      this._kept.set(place, asked);
      asked.catch(() => this._kept.delete(place));
    }
    const lines = await this._kept.get(place);
    if (this._kept.has(place)) this._kept.set(place, lines);
    return lines;
  }
}
