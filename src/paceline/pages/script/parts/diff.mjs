/**
 * The difference of two texts, as a reader wants it: by lines, and by words within lines that changed.
 *
 *     difference(before, after)  ->  [{op: "same" | "gone" | "new", text}], in order
 *
 * Joined, "same" and "gone" are `before`, "same" and "new" are `after`, to the letter. The method is Myers'
 * shortest edit script; where two texts have next to nothing in common it gives up early and says that all of
 * one is gone and all of the other is new, which is what a reader would say too.
 *
 * Knows strings. Knows nothing of how they are shown.
 */

const MOST_EDITS = 600;
const WORDS_OF_A_BLOCK = 4000;
const MOST_TOKENS = 200_000;

/** What it takes to come from one text to the other. */
export function difference(before, after) {
  if (before === after) return before ? [{ op: "same", text: before }] : [];
  const parts = [];
  for (const block of script(lines(before), lines(after))) {
    if (block.op === "changed") parts.push(...withinLines(block.before, block.after));
    else parts.push({ op: "same", text: block.before.join("") });
  }
  return joined(parts);
}

function withinLines(before, after) {
  const [old, fresh] = [before.join(""), after.join("")];
  const [oldWords, freshWords] = [words(old), words(fresh)];
  if (oldWords.length + freshWords.length > WORDS_OF_A_BLOCK) return replaced(old, fresh);
  const parts = [];
  for (const block of script(oldWords, freshWords)) {
    if (block.op === "changed") parts.push(...replaced(block.before.join(""), block.after.join("")));
    else parts.push({ op: "same", text: block.before.join("") });
  }
  return parts;
}

function replaced(gone, fresh) {
  return [
    { op: "gone", text: gone },
    { op: "new", text: fresh },
  ];
}

/** Lines with their ends, so that nothing is lost. */
function lines(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Words, runs of blanks, and every other sign by itself. */
function words(text) {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function joined(parts) {
  const found = [];
  for (const part of parts) {
    if (!part.text) continue;
    const last = found.at(-1);
    if (last && last.op === part.op) last.text += part.text;
    else found.push({ ...part });
  }
  return found;
}

/** Blocks of tokens in order: `{op: "same", before}` or `{op: "changed", before, after}`. */
function script(before, after) {
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const blocks = [];
  if (head) blocks.push({ op: "same", before: before.slice(0, head) });
  blocks.push(...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)));
  if (tail) blocks.push({ op: "same", before: before.slice(before.length - tail) });
  return blocks;
}

function middle(before, after) {
  if (!before.length && !after.length) return [];
  const whole = [{ op: "changed", before, after }];
  if (!before.length || !after.length || before.length + after.length > MOST_TOKENS) return whole;
  const matches = matchesOf(before, after);
  return matches === null ? whole : blocksOf(before, after, matches);
}

/** The places that both have in common, `[x, y]` in order; null where it takes more than `MOST_EDITS`. */
function matchesOf(before, after) {
  const [n, m] = [before.length, after.length];
  const most = Math.min(n + m, MOST_EDITS);
  const trail = [];
  let reach = new Int32Array(2 * most + 3);
  for (let edits = 0; edits <= most; edits++) {
    const next = reach.slice();
    for (let k = -edits; k <= edits; k += 2) {
      const at = k + most + 1;
      let x =
        k === -edits || (k !== edits && reach[at - 1] < reach[at + 1]) ? reach[at + 1] : reach[at - 1] + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) x++;
      next[at] = x;
      if (x >= n && x - k >= m) return backwards([...trail, reach], n, m, most);
    }
    trail.push(reach);
    reach = next;
  }
  return null;
}

function backwards(trail, n, m, most) {
  const matches = [];
  let [x, y] = [n, m];
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reach = trail[edits];
    const k = x - y;
    const at = k + most + 1;
    const down = k === -edits || (k !== edits && reach[at - 1] < reach[at + 1]);
    const fromK = down ? k + 1 : k - 1;
    const fromX = edits === 0 ? 0 : reach[fromK + most + 1];
    const fromY = edits === 0 ? 0 : fromX - fromK;
    const startX = edits === 0 ? 0 : down ? fromX : fromX + 1;
    while (x > startX) {
      x--;
      y--;
      matches.push([x, y]);
    }
    [x, y] = [fromX, fromY];
  }
  return matches.reverse();
}

function blocksOf(before, after, matches) {
  const blocks = [];
  let [x, y] = [0, 0];
  for (const [a, b] of [...matches, [before.length, after.length]]) {
    if (a > x || b > y) blocks.push({ op: "changed", before: before.slice(x, a), after: after.slice(y, b) });
    if (a < before.length) {
      const last = blocks.at(-1);
      if (last?.op === "same") last.before.push(before[a]);
      else blocks.push({ op: "same", before: [before[a]] });
    }
    [x, y] = [a + 1, b + 1];
  }
  return blocks;
}
