/** A tool call: its name, who asked for it, its risk, the action on it, and where each argument comes from. */

import { actionBadge, authorisationTag, originTag, tierTag } from "./badges.js";
import { h } from "./dom.js";
import { clipped, said } from "./visible.js";

/** @typedef {import("./api_types.js").Call} Call */
/** @typedef {import("./api_types.js").Evidence} Evidence */

const LONGEST_VALUE = 600;
const DEEPEST = 40;
const MOST = 60;

/**
 * @param {Call} call
 * @param {string | null} text its arguments as the model wrote them
 * @param {Evidence[]} evidence on this call
 * @param {boolean} actionShown whether the action on it is shown elsewhere
 * @returns {{element: HTMLElement, ends: Map<Evidence, HTMLElement>}} and where each link begins
 */
export function callCard(call, text, evidence, actionShown) {
  /** @type {Map<Evidence, HTMLElement>} */
  const ends = new Map();
  const byPath = new Map(evidence.map((item) => [item.path, item]));
  const values =
    text === null ? evidence.map((item) => ({ path: item.path, text: item.value })) : leaves(text);
  const rows = values.slice(0, MOST).map((value) => {
    const found = byPath.get(value.path);
    const row = argumentRow(value, found);
    if (found !== undefined) ends.set(found, row);
    return row;
  });
  const element = h(
    "section.call",
    {},
    h(
      "header",
      {},
      said(call.tool, "code.tool-name"),
      authorisationTag(call.authorisation),
      tierTag(call.tier),
      h("span.push"),
      !actionShown && actionBadge(call.action),
    ),
    rows.length > 0 && h("dl.arguments", {}, rows),
    values.length > MOST && h("p.quiet", {}, `… and ${values.length - MOST} more values`),
  );
  return { element, ends };
}

/**
 * @param {{path: string, text: string}} value
 * @param {Evidence | undefined} found
 */
function argumentRow(value, found) {
  return h(
    "div.argument",
    { tabindex: found !== undefined && found.places.length > 0 ? "0" : null },
    said(value.path, "dt"),
    said(clipped(value.text, LONGEST_VALUE), "dd"),
    h("dd.origin", {}, found === undefined ? null : originTag(found.origin)),
  );
}

/**
 * All values in arguments, with the paths that the server gives them: "to[0]", "event.title".
 *
 * @param {string} text
 * @returns {{path: string, text: string}[]}
 */
function leaves(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ path: "", text }];
  }
  /** @type {{path: string, text: string}[]} */
  const found = [];
  collect(value, "", 0, found);
  return found;
}

/**
 * @param {unknown} value
 * @param {string} path
 * @param {number} depth
 * @param {{path: string, text: string}[]} found
 */
function collect(value, path, depth, found) {
  if (typeof value !== "object" || value === null || depth === DEEPEST) {
    found.push({ path, text: typeof value === "string" ? value : JSON.stringify(value) });
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => collect(item, `${path}[${index}]`, depth + 1, found));
  } else {
    for (const [key, item] of Object.entries(value)) {
      collect(item, path === "" ? key : `${path}.${key}`, depth + 1, found);
    }
  }
}
