/**
 * Questions to the sheet: which rows does a reader want to see?
 *
 *     parsed('paris -london is:failed Similarity<0.5 topic:"number theory"')
 *
 * Words are looked for in names and texts; `name:value` asks a column, `name<0.5` a column of numbers, a minus
 * turns a question round, quotation marks keep blanks together. All of them have to hold. A column is named
 * as it is called, or with its group before it where two are called the same: `metadata.topic`, `label.topic`.
 *
 * Pure functions of text and sheet. Where words stand in texts is the search's business.
 */

import { STANDINGS } from "./sheet.mjs";

const TERM = /(-)?(?:((?:"[^"]*"|[^\s"<>=:])+?)(<=|>=|:|=|<|>))?("[^"]*"|[^\s"]+)?/y;

/** A question as its terms: `[{word} | {field, op, value}]`, each with `not`. */
export function parsed(text) {
  const terms = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at])) {
      at++;
      continue;
    }
    TERM.lastIndex = at;
    const [whole, minus, field, op, value] = TERM.exec(text) ?? [""];
    if (!whole) {
      at++;
      continue;
    }
    at += whole.length;
    const bare = unquoted(value ?? "");
    if (field !== undefined && (bare !== "" || value !== undefined)) {
      terms.push({ field: unquoted(field), op: op === "=" ? ":" : op, value: bare, not: Boolean(minus) });
    } else {
      const word = field === undefined ? bare : unquoted(field) + op;
      if (word) terms.push({ word, not: Boolean(minus) });
    }
  }
  return terms;
}

/** Terms as the text that they are parsed from. */
export function written(terms) {
  return terms
    .map((term) => {
      const sign = term.not ? "-" : "";
      return "word" in term
        ? sign + quoted(term.word, /[\s":<>=]|^-/)
        : `${sign}${quoted(term.field, /[\s"<>=:]|^-/)}${term.op}${quoted(term.value, /[\s"]|^$/)}`;
    })
    .join(" ");
}

function quoted(text, needs) {
  return needs.test(text) ? `"${text.replaceAll('"', "")}"` : text;
}

function unquoted(text) {
  return text.replaceAll('"', "");
}

/** What can be asked by a name: `{label, field, column, values: [[value, rows]]}` for menus. */
export function fields(sheet) {
  const found = [{ field: "is", label: "status" }];
  const columns = ["assertion", "score", "label", "metadata", "metric"].flatMap((group) =>
    sheet.group(group),
  );
  const called = new Map();
  for (const column of columns) called.set(column.name, (called.get(column.name) ?? 0) + 1);
  for (const column of columns) {
    const alone = called.get(column.name) === 1 && !RESERVED.has(column.name);
    found.push({ field: alone ? column.name : `${column.group}.${column.name}`, label: column.name, column });
  }
  const variants = sheet.column("", "variant");
  if (variants) found.push({ field: "variant", label: "variant", column: variants });
  return found;
}

/** The name by which a column is asked. */
export function fieldOf(sheet, column) {
  return fields(sheet).find((each) => each.column === column)?.field ?? `${column.group}.${column.name}`;
}

const RESERVED = new Set(["is", "outcome", "cause", "time", "waited", "attempts", "cost", "variant", "case"]);
const NUMBERS = { time: "seconds", waited: "waited", attempts: "attempts", cost: "cost", total: "total" };
const SENSE = { pass: "passed", fail: "failed", errors: "error", "not-run": "notrun", running: "open" };

/**
 * The rows that answer the fields of a question, as a mask of ones; `unknown` names fields that there are none of.
 */
export function masked(sheet, terms) {
  const mask = new Uint8Array(sheet.n).fill(1);
  const unknown = [];
  for (const term of terms) {
    if ("word" in term) continue;
    const holds = predicate(sheet, term);
    if (holds === null) {
      unknown.push(term.field);
      mask.fill(0);
      continue;
    }
    for (let row = 0; row < mask.length; row++) if (mask[row] && holds(row) === term.not) mask[row] = 0;
  }
  return { mask, unknown };
}

function predicate(sheet, { field, op, value }) {
  if (field === "is") return standing(sheet, value.toLowerCase());
  if (field === "outcome") return coded(sheet.at("outcome"), ["", ...sheet.head.outcomes], value);
  if (field === "cause") {
    const wanted = Number(value);
    const causes = sheet.at("cause");
    return (row) => causes !== undefined && causes[row] === wanted;
  }
  if (field === "case") return (row) => sheet.at("case")[row] === value || sheet.name(row) === value;
  if (field in NUMBERS) return numeric(sheet.at(NUMBERS[field]), op, value);
  const column = fields(sheet).find((each) => each.field === field)?.column ?? grouped(sheet, field);
  return column ? ofColumn(column, op, value) : null;
}

function grouped(sheet, field) {
  const [, group, name] = /^(assertion|score|label|metadata|metric|failure)\.(.*)$/s.exec(field) ?? [];
  return group ? sheet.column(group, name) : undefined;
}

function standing(sheet, value) {
  const wanted = STANDINGS.indexOf(SENSE[value] ?? value);
  const standings = sheet.standings();
  if (value === "unpassed") return (row) => standings[row] === 1 || standings[row] === 2;
  return (row) => standings[row] === wanted;
}

function ofColumn(column, op, value) {
  if (column.words) return coded(column.values, column.words, value, op);
  if (column.kind === "i8") {
    const wanted = { true: 1, yes: 1, pass: 1, false: 0, no: 0, fail: 0, none: -1 }[value.toLowerCase()];
    return (row) => column.values[row] === wanted;
  }
  if (column.kind === "u8") return (row) => column.values[row] === (value === "true" ? 1 : 0);
  return numeric(column.values, op, value);
}

function coded(values, words, value, op = ":") {
  if (op !== ":") {
    const compare = numeric(words.map(Number), op, value);
    return (row) => compare(values[row]);
  }
  const wanted = words.indexOf(value === "none" && !words.includes("none") ? "" : value);
  return (row) => wanted >= 0 && values[row] === wanted;
}

const COMPARE = {
  ":": (a, b) => a === b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

function numeric(values, op, value) {
  if (values === undefined) return () => false;
  if (value === "none") return (row) => Number.isNaN(values[row]);
  const bound = Number(value);
  const compare = COMPARE[op];
  return (row) => !Number.isNaN(bound) && compare(values[row], bound);
}
