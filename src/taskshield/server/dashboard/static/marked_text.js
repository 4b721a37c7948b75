/**
 * A text with highlights at its spans. Long texts show their beginning and what is around each
 * highlight; the rest opens on demand, so that nothing is hidden and nothing is slow.
 */

import { h } from "./dom.js";
import { count } from "./format.js";
import { visibleNodes } from "./visible.js";

const HEAD = 1600;
const AROUND = 240;
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/;

/**
 * @typedef {object} Highlight
 * @property {number} start in code points
 * @property {number} end
 * @property {string} tone a class: "bad", "good", "source", ...
 * @property {string} key names the highlight; its first element is found under it
 * @property {string} [label] a short number shown before it
 */

/**
 * Show a text in an element instead of its content.
 *
 * @param {Element} element
 * @param {string} text
 * @param {Highlight[]} highlights
 * @returns {Map<string, HTMLElement>} the element of each highlight, by its key
 */
export function showMarked(element, text, highlights) {
  /** @type {Map<string, HTMLElement>} */
  const anchors = new Map();
  const placed = inUnits(text, highlights);
  const pieces = shownRanges(text.length, placed).flatMap((range) =>
    range.shown
      ? markedPieces(text, range, placed, anchors)
      : [gap(text.slice(range.start, range.end))],
  );
  element.replaceChildren(...pieces);
  return anchors;
}

/**
 * Highlights counted in UTF-16 units, as JavaScript counts, within the text.
 *
 * @param {string} text
 * @param {Highlight[]} highlights
 */
function inUnits(text, highlights) {
  const unit = PAIRS.test(text) ? unitOfCharacter(text) : (/** @type {number} */ index) => index;
  return highlights
    .map((item) => ({
      ...item,
      start: Math.min(unit(item.start), text.length),
      end: Math.min(unit(item.end), text.length),
    }))
    .filter((item) => item.start < item.end);
}

/** @param {string} text */
function unitOfCharacter(text) {
  const units = [0];
  for (const character of text) units.push(units[units.length - 1] + character.length);
  return (/** @type {number} */ index) => units[Math.min(index, units.length - 1)];
}

/**
 * The whole text as ranges that are shown or left out.
 *
 * @param {number} length
 * @param {Highlight[]} highlights
 */
function shownRanges(length, highlights) {
  const wanted = highlights
    .map((item) => ({
      start: Math.max(0, item.start - AROUND),
      end: Math.min(length, item.end + AROUND),
    }))
    .concat([{ start: 0, end: Math.min(length, HEAD) }])
    .sort((one, other) => one.start - other.start);
  const ranges = [];
  let at = 0;
  for (const { start, end } of wanted) {
    if (start - at > AROUND) ranges.push({ start: at, end: start, shown: false });
    else if (start > at) ranges.push({ start: at, end: start, shown: true });
    if (end > at) ranges.push({ start: Math.max(start, at), end, shown: true });
    at = Math.max(at, end);
  }
  if (at < length) ranges.push({ start: at, end: length, shown: length - at <= AROUND });
  return ranges;
}

/**
 * One range, cut wherever a highlight begins or ends.
 *
 * @param {string} text
 * @param {{start: number, end: number}} range
 * @param {Highlight[]} highlights
 * @param {Map<string, HTMLElement>} anchors
 */
function markedPieces(text, range, highlights, anchors) {
  const inside = highlights.filter((item) => item.start < range.end && item.end > range.start);
  const cuts = new Set([range.start, range.end]);
  for (const item of inside) {
    cuts.add(Math.max(item.start, range.start));
    cuts.add(Math.min(item.end, range.end));
  }
  const edges = [...cuts].sort((one, other) => one - other);
  return edges.slice(0, -1).flatMap((start, index) => {
    const end = edges[index + 1];
    const over = inside.filter((item) => item.start <= start && item.end >= end);
    const content = visibleNodes(text.slice(start, end));
    return over.length === 0 ? content : [highlighted(content, over, anchors)];
  });
}

/**
 * @param {(Node | string)[]} content
 * @param {Highlight[]} over
 * @param {Map<string, HTMLElement>} anchors
 */
function highlighted(content, over, anchors) {
  const starting = over.filter((item) => !anchors.has(item.key));
  const labels = starting
    .filter((item) => item.label !== undefined)
    .map((item) => h("span.mark-label", {}, item.label));
  const mark = h(
    "mark",
    { class: [...new Set(over.map((item) => item.tone))].join(" ") },
    labels,
    content,
  );
  for (const item of starting) anchors.set(item.key, mark);
  return mark;
}

/** @param {string} text */
function gap(text) {
  const button = h(
    "button.gap",
    {
      type: "button",
      onclick: () => button.replaceWith(...visibleNodes(text)),
    },
    `… show ${count(text.length)} more characters …`,
  );
  return button;
}
