/**
 * The one door to the document: elements are made here, and text enters as text.
 *
 *     element("td", { class: "number", title: name }, "12", element("b", {}, "!"))
 *
 * There is no way in for markup: no `innerHTML`, no attribute that holds a script or leads elsewhere. What a
 * model has said is a text node, whatever it looks like. The content policy of the page forbids the rest.
 */

import { harmless, segments } from "./text.mjs";

const ATTRIBUTES = names(
  "class colspan for hidden id name open placeholder role scope spellcheck tabindex title type value",
  "autocomplete checked disabled selected rows",
);
const SHAPES = names(
  "class cx cy d dominant-baseline focusable height points preserveAspectRatio r role rx tabindex",
  "text-anchor transform viewBox width x x1 x2 y y1 y2",
);
const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`on: {click}`) and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), ATTRIBUTES, attributes, children);
}

function names(...lists) {
  const known = new Set(lists.flatMap((list) => list.split(" ")));
  return (name) => known.has(name) || /^(?:aria|data)-[a-z-]+$/.test(name);
}

/** The same for pictures. */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), SHAPES, attributes, children);
}

function filled(node, allowed, { on = {}, href, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (!allowed(name)) throw new Error(`no attribute ${name} here`);
    node.setAttribute(name, value === true ? "" : String(value));
  }
  if (href !== undefined) node.setAttribute("href", safe(href));
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  append(node, children);
  return node;
}

/** Links lead to places of this page, or of this server. */
function safe(href) {
  if (!/^(?:#|\/(?![\\/]))/.test(href)) throw new Error("a link leads out of the page");
  return href;
}

/** Add children to a node: elements, strings, numbers, lists of them; null is nothing. */
export function append(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** Replace all that a node holds. */
export function refill(node, ...children) {
  node.replaceChildren();
  return append(node, ...children);
}

/** Foreign text: what would disturb the page is shown as an escape. */
export function foreign(text) {
  return segments(text).map((part) =>
    part.escaped ? element("span", { class: "escape" }, part.text) : part.text,
  );
}

/** Foreign text for a tooltip. */
export function titled(text) {
  return harmless(text.length > 500 ? `${text.slice(0, 500)}…` : text);
}
