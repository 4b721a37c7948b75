/** Figures in boxes. */

import { h } from "./dom.js";

/**
 * @param {string} label
 * @param {string} [value]
 * @param {string} [detail]
 * @param {string} [tone]
 */
export function tile(label, value = "–", detail = "", tone = "") {
  return h(
    "div.tile",
    {},
    h("dt", {}, label),
    h(`dd.tile-value${tone === "" ? "" : `.${tone}`}`, {}, value),
    detail !== "" && h("dd.quiet", {}, detail),
  );
}

/** @param {HTMLElement[]} inside */
export function tiles(inside) {
  return h("dl.tiles", {}, inside);
}
