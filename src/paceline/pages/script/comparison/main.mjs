/**
 * The program of a comparison in a file: shows the document that stands in it.
 */

import { element, foreign, refill } from "../parts/dom.mjs";
import { inHere } from "../parts/source.mjs";
import { themeButton } from "../parts/theme.mjs";
import { comparisonPage } from "./page.mjs";

async function start() {
  const told = await inHere("comparison");
  const names = Object.entries(told.runs)
    .map(([letter, { name }]) => `${letter}: ${name}`)
    .join(" · ");
  const bar = element(
    "header",
    { class: "bar" },
    element("span", { class: "title" }, "Comparison"),
    element("span", { class: "state" }, foreign(names)),
    themeButton(),
  );
  refill(
    document.getElementById("page"),
    bar,
    element("main", { id: "main" }, element("h1", { class: "out" }, "Comparison"), comparisonPage(told)),
  );
}

start();
