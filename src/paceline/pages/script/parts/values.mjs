/**
 * Values of cases, as text: what a journal holds of inputs and outputs is JSON, and is shown as people write it.
 *
 * An object that stands for a Python value (`{"$paceline": ..., "value": ...}`) is shown as its content, its
 * type beside it. Integers beyond what a float holds keep their digits where the browser can tell them.
 */

const MARK = "$paceline";

/** JSON text as a value, the digits of big integers kept. */
export function parsed(json) {
  return JSON.parse(json, (key, value, context) =>
    typeof value === "number" && context?.source && !faithful(value, context.source)
      ? new BigNumber(context.source)
      : value,
  );
}

function faithful(value, source) {
  return !/^-?\d+$/.test(source) || Number.isSafeInteger(value);
}

/** An integer that no float holds: it is written as it stood. */
class BigNumber {
  constructor(digits) {
    this.digits = digits;
  }
}

/** What a value says about itself: its content, and the type that it had in Python, if it was no plain one. */
export function unwrapped(value) {
  if (value === null || typeof value !== "object" || !(MARK in value) || !("value" in value)) {
    return { content: value, type: "" };
  }
  const top = value[MARK]?.types?.[""];
  const type = Array.isArray(top) ? top.join(" of ") : typeof top === "string" ? top : "";
  return { content: value.value, type: type.replace(/^builtins:/, "") };
}

/** A value as text: a string as it is, anything else as JSON that is broken into lines where it is long. */
export function shown(value) {
  const { content } = unwrapped(value);
  if (content === undefined) return "";
  return typeof content === "string" ? content : written(content, "");
}

/** A value on a single line, for a cell of a table. */
export function brief(value, limit = 160) {
  const { content } = unwrapped(value);
  if (content === null || content === undefined) return "";
  const inner = onlyMember(content);
  const text = typeof inner === "string" ? inner : flat(inner, limit * 4);
  const line = text
    .slice(0, limit * 4)
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

/** `{"question": "..."}` is its one text; whatever else is itself. */
function onlyMember(content) {
  if (content === null || typeof content !== "object" || Array.isArray(content)) return content;
  const members = Object.values(content);
  return members.length === 1 && typeof members[0] === "string" ? members[0] : content;
}

const WIDTH = 88;

function written(value, indent) {
  if (value === null || typeof value !== "object" || value instanceof BigNumber) return flat(value, Infinity);
  if (flat(value, WIDTH + 1).length + indent.length <= WIDTH) return flat(value, Infinity);
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((item) => deeper + written(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${written(item, deeper)}`);
  return parts.length ? `${open}\n${parts.join(",\n")}\n${indent}${close}` : open + close;
}

/** On one line; what goes beyond the limit may be left out. */
function flat(value, limit) {
  if (value instanceof BigNumber) return value.digits;
  if (typeof value === "string") return JSON.stringify(value.slice(0, limit));
  if (value === null || typeof value !== "object") return String(value);
  const parts = [];
  let length = 0;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) {
    const part = Array.isArray(value) ? flat(item, limit) : `${JSON.stringify(key)}: ${flat(item, limit)}`;
    parts.push(part);
    length += part.length + 2;
    if (length > limit) break;
  }
  const inside = parts.join(", ");
  return Array.isArray(value) ? `[${inside}]` : `{${inside}}`;
}
