/** Short notices, errors, and what an empty list shows. */

import { ApiError } from "./api.js";
import { h, icon } from "./dom.js";
import { said } from "./visible.js";

const SHOWN_MS = 6000;

/**
 * A notice at the edge of the page, for a while.
 *
 * @param {string} text
 * @param {"good" | "bad" | "plain"} [tone]
 */
export function toast(text, tone = "plain") {
  const place = document.getElementById("toasts");
  const shown = said(text, `div.toast.${tone}`);
  place?.append(shown);
  setTimeout(() => shown.remove(), SHOWN_MS);
}

/**
 * What went wrong, in words.
 *
 * @param {unknown} error
 */
export function wordsOf(error) {
  if (error instanceof ApiError) return error.message;
  throw error;
}

/**
 * A box that says what went wrong, and offers to try again.
 *
 * @param {unknown} error
 * @param {() => void} [again]
 */
export function failure(error, again) {
  return h(
    "div.note.bad",
    { role: "alert" },
    said(wordsOf(error), "p"),
    again !== undefined && h("button.button", { type: "button", onclick: again }, "Try again"),
  );
}

/**
 * @param {string} name of an icon
 * @param {string} title
 * @param {string} text
 */
export function nothing(name, title, text) {
  return h("div.nothing", {}, icon(name), h("h2", {}, title), h("p", {}, text));
}

/**
 * Copy a text and say so.
 *
 * @param {string} text
 * @param {string} what
 */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`, "good");
  } catch {
    toast("The browser did not allow copying.", "bad");
  }
}
