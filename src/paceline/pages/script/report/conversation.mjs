/**
 * A trajectory as a conversation: what a model was told, said, and called tools with.
 *
 * Messages are those of OpenAI's chat, which is how journals have them; whatever else stands there is shown as
 * it is. Knows messages.
 */

import { append, element, foreign } from "../parts/dom.mjs";
import { brief, shown } from "../parts/values.mjs";
import { longText } from "./texts.mjs";

const FIRST = 40;

/** The conversation, one message after the other. */
export function conversation(messages) {
  const list = element("ol", { class: "conversation" });
  const add = (from, to) => append(list, messages.slice(from, to).map(message));
  add(0, FIRST);
  const section = element(
    "div",
    { class: "panel wide" },
    element("h2", {}, "Trajectory ", element("span", { class: "quiet" }, `${messages.length} messages`)),
    list,
  );
  if (messages.length > FIRST) {
    const more = element("button", { type: "button" }, `show the other ${messages.length - FIRST}`);
    more.addEventListener("click", () => {
      add(FIRST, messages.length);
      more.remove();
    });
    section.append(more);
  }
  return section;
}

function message(told) {
  if (told === null || typeof told !== "object") return element("li", {}, longText(shown(told)));
  const { role = "", content, tool_calls: calls, model, name, ...rest } = told;
  const who = element(
    "div",
    { class: "who" },
    foreign(String(role)),
    name || model ? element("span", { class: "quiet" }, foreign(` ${name ?? model}`)) : null,
  );
  const said = textOf(content);
  const parts = [said ? longText(said) : null, ...(Array.isArray(calls) ? calls.map(call) : [])];
  if (!parts.some(Boolean)) parts.push(longText(shown(rest)));
  return append(
    element(
      "li",
      { class: `said ${["system", "user", "assistant", "tool"].includes(role) ? role : "other"}` },
      who,
    ),
    element("div", { class: "what" }, parts),
  );
}

function textOf(content) {
  if (Array.isArray(content)) return content.map((part) => part?.text ?? shown(part)).join("\n");
  return content === null || content === undefined ? "" : shown(content);
}

function call(made) {
  const { name = "?", arguments: given = "" } = made?.function ?? made ?? {};
  const text = typeof given === "string" ? given : shown(given);
  const summary = element(
    "summary",
    {},
    element("code", {}, foreign(String(name))),
    " ",
    element("span", { class: "quiet" }, foreign(brief(text, 100))),
  );
  return element("details", { class: "tool-call" }, summary, longText(text));
}
