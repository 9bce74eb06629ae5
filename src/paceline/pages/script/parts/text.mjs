/**
 * Text of others, made visible and harmless.
 *
 * What a model answers may hold direction marks that show a word backwards, control characters, half a
 * surrogate. `segments` cuts a text into plain parts and escapes, so that whoever shows it can show both; the
 * rule is that of `paceline.printable`. Knows strings, and nothing of the page.
 */

const SUSPECT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;
const LEFT_ALONE = new Set(["\n", "\t", "\u200c", "\u200d"]);

/** The escape by which a character is shown. */
function escapeOf(character) {
  const code = character.codePointAt(0);
  if (code <= 0xff) return "\\x" + code.toString(16).padStart(2, "0");
  if (code <= 0xffff) return "\\u" + code.toString(16).padStart(4, "0");
  return "\\U" + code.toString(16).padStart(8, "0");
}

/** The parts of a text: `[{text, escaped}]`, in order. */
export function segments(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(SUSPECT)) {
    if (LEFT_ALONE.has(found[0])) continue;
    if (found.index > from) parts.push({ text: text.slice(from, found.index), escaped: false });
    parts.push({ text: escapeOf(found[0]), escaped: true });
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), escaped: false });
  return parts;
}

/** A text with its escapes in place, for titles and attributes. */
export function harmless(text) {
  return text.replace(SUSPECT, (one) => (LEFT_ALONE.has(one) ? one : escapeOf(one)));
}
