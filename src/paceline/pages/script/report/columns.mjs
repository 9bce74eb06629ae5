/**
 * The columns of the table of cases: which there are, which are shown at first, and what stands in a cell.
 *
 * Knows sheets and marks. What the texts of a case are comes from the source, and may come later.
 */

import { element, foreign, titled } from "../parts/dom.mjs";
import { mark } from "../parts/marks.mjs";
import { count, dollars, plain, seconds } from "../parts/numbers.mjs";
import { fieldOf } from "../parts/query.mjs";
import { brief, parsed } from "../parts/values.mjs";

const RESULTS_SHOWN = 6;

/** All columns that this run has: `{key, title, width, shown, cell(row), sorts}`; `texts` looks up texts. */
export function columnsOf(sheet, texts) {
  const found = [
    {
      key: "is",
      title: "status",
      untitled: true,
      width: "34px",
      shown: true,
      look: "centred",
      cell: (row) => mark(sheet.standing(row)),
      sorts: () => sheet.standings(),
    },
    {
      key: "case",
      title: "Case",
      width: "minmax(110px, 1.1fr)",
      shown: true,
      cell: (row) => named(sheet, row),
      sorts: (keys) => keys({ kind: "text", values: sheet.at("case") }),
    },
  ];
  if (sheet.column("", "variant")) {
    const column = sheet.column("", "variant");
    found.push({
      key: "variant",
      title: "Variant",
      width: "minmax(70px, .6fr)",
      shown: true,
      cell: (row) => foreign(sheet.variant(row) || "default"),
      sorts: (keys) => keys(column),
    });
  }
  found.push(
    {
      key: "inputs",
      title: "Inputs",
      width: "minmax(120px, 2fr)",
      shown: true,
      look: "text",
      cell: (row) => texts(row, "inputs"),
    },
    {
      key: "output",
      title: "Output",
      width: "minmax(120px, 2fr)",
      shown: true,
      look: "text",
      cell: (row) => texts(row, "output"),
    },
  );
  const results = [...sheet.group("assertion"), ...sheet.group("score"), ...sheet.group("label")];
  for (const [place, column] of results.entries())
    found.push(resultColumn(sheet, column, place < RESULTS_SHOWN));
  for (const column of [...sheet.group("metadata"), ...sheet.group("metric")])
    found.push(resultColumn(sheet, column, false));
  found.push(number(sheet, "time", "Time", "seconds", seconds, true));
  if (sheet.at("waited")) found.push(number(sheet, "waited", "Waited", "waited", seconds, false));
  if (
    sheet
      .at("attempts")
      ?.subarray(0, sheet.n)
      .some((attempts) => attempts > 1)
  )
    found.push(number(sheet, "attempts", "Tries", "attempts", count, false));
  if (sheet.at("cost"))
    found.push({ ...number(sheet, "cost", "Cost", "cost", dollars, true), cell: (row) => cost(sheet, row) });
  return found;
}

function named(sheet, row) {
  const name = sheet.name(row);
  return element("span", { class: "name", title: titled(name) }, foreign(name));
}

function cost(sheet, row) {
  const paid = sheet.at("cost")[row];
  if (Number.isNaN(paid)) return "";
  if (!sheet.at("unpriced")?.[row]) return dollars(paid);
  return paid ? `≥ ${dollars(paid)}` : "unknown";
}

function number(sheet, key, title, name, said, shown) {
  const open = (row) => ["open", "notrun"].includes(sheet.standing(row)) && !sheet.at(name)[row];
  return {
    key,
    title,
    width: "84px",
    shown,
    number: true,
    cell: (row) => (open(row) ? "" : said(sheet.at(name)[row])),
    sorts: () => sheet.at(name),
  };
}

function resultColumn(sheet, column, shown) {
  const key = fieldOf(sheet, column);
  const numeric = !column.words && column.kind !== "i8";
  const wide = Math.max(56, Math.min(150, 24 + 7 * column.name.length));
  const width = numeric ? `${Math.max(94, wide)}px` : `minmax(${wide}px, .5fr)`;
  return {
    key,
    title: column.name,
    width,
    shown,
    number: numeric,
    cell: (row) => result(sheet, column, row),
    sorts: (keys) => keys(column),
  };
}

function result(sheet, column, row) {
  const value = column.values[row];
  if (column.words) return value ? foreign(column.words[value]) : "";
  if (column.kind === "i8") {
    if (value === 1)
      return element(
        "span",
        { class: "yes" },
        element("span", { "aria-hidden": "true" }, "✓"),
        element("span", { class: "out" }, "true"),
      );
    if (value === 0)
      return element(
        "span",
        { class: "no" },
        element("span", { "aria-hidden": "true" }, "✕"),
        element("span", { class: "out" }, "false"),
      );
    return sheet.column("failure", column.by)?.values[row]
      ? element("span", { class: "bad", title: "the evaluator could not say" }, "?")
      : "";
  }
  return Number.isNaN(value) ? "" : plain(value);
}

/** What a cell shows of a text of a case: the beginning of it, and of an error what it says. */
export function textOf(body, layout, name) {
  const parts = parsed(body.slice(0, body.indexOf("\t")));
  const value = parts[layout.texts.indexOf(name)];
  const error = parts[layout.texts.indexOf("error")];
  if (name === "output" && (value === null || value === undefined) && error) {
    return element("span", { class: "bad" }, foreign(brief(`${error[0]}: ${error[1]}`)));
  }
  return foreign(brief(value));
}
