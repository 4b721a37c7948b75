/**
 * Untrusted text made safe to look at, as taskshield.core.safe_text does it for terminals.
 *
 * Characters that show nothing or reorder what stands beside them (escape sequences, right-to-left
 * overrides, invisible letters) become visible marks, so that no part of a text can be hidden.
 */

import { h } from "./dom.js";

// Combining characters first: after another one, they would read as parts of it.
const INVISIBLE =
  "\\u034f\\u17b4\\u17b5\\u180b-\\u180f\\ufe00-\\ufe0e\\u{e0100}-\\u{e01ef}" +
  "\\u115f\\u1160\\u2800\\u3164\\uffa0";
const HIDDEN = new RegExp(
  `(?![\\n\\t])(?:\\r(?!\\n)|(?!\\r)[${INVISIBLE}\\p{C}\\p{Zl}\\p{Zp}])`,
  "gu",
);
const LINE_ENDS = /\r\n/g;

/**
 * A text as nodes: plain text, and a mark for each hidden character.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function visibleNodes(text) {
  const found = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) found.push(unixLines(text.slice(from, match.index)));
    found.push(h("span.hidden-character", {}, spelled(match[0])));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(unixLines(text.slice(from)));
  return found;
}

/**
 * The same as one string, for attributes.
 *
 * @param {string} text
 */
export function visibleText(text) {
  return unixLines(text).replaceAll(HIDDEN, spelled);
}

/**
 * An element that holds an untrusted text, set apart from the direction of the text around it.
 *
 * @param {string} text
 * @param {string} [name] its tag and classes
 * @param {Record<string, unknown>} [properties]
 */
export function said(text, name = "bdi", properties = {}) {
  const element = h(name, properties, visibleNodes(text));
  element.classList.add("said");
  return element;
}

/**
 * An untrusted text cut to one short line.
 *
 * @param {string} text
 * @param {number} limit
 */
export function clipped(text, limit) {
  const line = text.replaceAll(/[ \t\r\n]+/g, " ").trim();
  const letters = [...line];
  return letters.length > limit ? `${letters.slice(0, limit - 1).join("")}…` : line;
}

/** @param {string} text */
function unixLines(text) {
  return text.replaceAll(LINE_ENDS, "\n");
}

/** @param {string} character */
function spelled(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  const digits = code.toString(16);
  return code < 0x100
    ? `\\x${digits.padStart(2, "0")}`
    : `<U+${digits.toUpperCase().padStart(4, "0")}>`;
}
