/** Light, dark, or as the system says. */

import { fill, h, icon } from "./dom.js";

const KEPT = "taskshield-theme";
const CHOICES = ["auto", "light", "dark"];
const ICONS = { auto: "auto", light: "sun", dark: "moon" };
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

/** Apply what was chosen last time. */
export function applyTheme() {
  apply(chosen());
}

/** A button that goes from one choice to the next. */
export function themeButton() {
  const button = h("button.icon-button", {
    type: "button",
    onclick: () => {
      const next = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length];
      keep(next);
      apply(next);
      label(button);
    },
  });
  label(button);
  return button;
}

/** @param {HTMLElement} button */
function label(button) {
  const now = /** @type {keyof typeof ICONS} */ (chosen());
  const words = `Colours: ${WORDS[now]}`;
  button.setAttribute("aria-label", words);
  button.title = words;
  fill(button, icon(ICONS[now]));
}

/** @param {string} choice */
function apply(choice) {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

function chosen() {
  try {
    const kept = localStorage.getItem(KEPT) ?? "auto";
    return CHOICES.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}

/** @param {string} choice */
function keep(choice) {
  try {
    localStorage.setItem(KEPT, choice);
  } catch {
    // A browser that keeps nothing shows the choice until the page is left.
  }
}
