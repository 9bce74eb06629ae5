/**
 * Light and dark: what the reader's system says, until the reader says otherwise.
 *
 * The choice is kept where the browser allows it; a file opened from disk may not be allowed to, and then it
 * holds until the page is closed.
 */

import { element } from "./dom.mjs";

const KEY = "paceline-theme";
const NEXT = { "": "dark", dark: "light", light: "" };
const SAID = { "": "as the system", dark: "dark", light: "light" };

function kept() {
  try {
    const theme = localStorage.getItem(KEY);
    return theme in NEXT ? theme : "";
  } catch {
    return "";
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing can be kept here: the choice ends with the page.
  }
}

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** The button that changes it; the choice of before is applied at once. */
export function themeButton() {
  let theme = kept();
  apply(theme);
  const button = element("button", { type: "button", class: "quiet", "data-role": "theme" });
  const say = () => {
    button.textContent = "◐";
    button.title = `colours: ${SAID[theme]}`;
    button.setAttribute("aria-label", `Colours: ${SAID[theme]}. Change to ${SAID[NEXT[theme]]}`);
  };
  button.addEventListener("click", () => {
    theme = NEXT[theme];
    keep(theme);
    apply(theme);
    say();
  });
  say();
  return button;
}
