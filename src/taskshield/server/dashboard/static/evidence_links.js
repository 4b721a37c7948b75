/**
 * Links from a call's arguments to the text they came from, drawn beside the timeline.
 *
 * Each runs from the argument's row through the gutter to the place. The link under the pointer or
 * the focus is highlighted, and so are its ends.
 */

import { originTone } from "./badges.js";
import { fill, s } from "./dom.js";

const LANES = 4;
const LANE = 7;
const BEND = 10;

/** @typedef {import("./message_card.js").MessageCard} MessageCard */
/** @typedef {import("./message_card.js").Link} Link */

export class EvidenceLinks {
  /**
   * @param {HTMLElement} timeline what the links lie over
   * @param {Map<number, MessageCard>} cards by number
   */
  constructor(timeline, cards) {
    this.timeline = timeline;
    this.cards = cards;
    this.svg = s("svg", { class: "links", "aria-hidden": "true" });
    this.waiting = false;
    /** @type {EventTarget | null} what the person points at */
    this.target = null;
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(timeline);
    timeline.append(this.svg);
    for (const event of ["pointerover", "focusin"])
      timeline.addEventListener(event, (e) => this.#point(e.target));
    timeline.addEventListener("pointerleave", () => this.#point(null));
  }

  /** Draw all links, once, when the browser is about to paint. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.#drawNow();
    });
  }

  stop() {
    this.observer.disconnect();
  }

  #drawNow() {
    const box = this.timeline.getBoundingClientRect();
    const links = [...this.cards.values()].flatMap((card) => card.links);
    const paths = links
      .map((link, index) => this.#path(link, box, index))
      .filter((path) => path !== null);
    this.svg.setAttribute("width", String(box.width));
    this.svg.setAttribute("height", String(box.height));
    fill(this.svg, paths);
    this.#point(this.target);
  }

  /**
   * @param {Link} link
   * @param {DOMRect} box
   * @param {number} index
   */
  #path(link, box, index) {
    const card = this.cards.get(link.to.message);
    const anchor = card?.anchors.get(link.to.key);
    if (card === undefined || anchor === undefined || link.from.offsetParent === null) return null;
    const row = link.from.getBoundingClientRect();
    const mark = anchor.getClientRects()[0];
    if (mark === undefined) return null;
    const edge = card.element.getBoundingClientRect().right - box.left;
    const lane = edge + BEND + (index % LANES) * LANE;
    const from = { x: row.right - box.left, y: row.top + row.height / 2 - box.top };
    const to = { x: edge, y: mark.bottom - box.top };
    const up = to.y < from.y ? -1 : 1;
    const bend = Math.min(BEND, Math.abs(from.y - to.y) / 2);
    const path = s(
      "g",
      { class: `link ${originTone(link.evidence.origin)}` },
      s("path", {
        d:
          `M${from.x} ${from.y}H${lane - bend}Q${lane} ${from.y} ${lane} ${from.y + up * bend}` +
          `V${to.y - up * bend}Q${lane} ${to.y} ${lane - bend} ${to.y}H${to.x}`,
      }),
      s("path", {
        class: "reach",
        d: `M${to.x} ${to.y}H${Math.min(to.x, mark.right - box.left + 2)}`,
      }),
      s("circle", { cx: from.x, cy: from.y, r: 3 }),
      s("circle", { cx: to.x, cy: to.y, r: 3 }),
    );
    ends.set(path, { from: link.from, to: anchor });
    return path;
  }

  /** @param {EventTarget | null} target */
  #point(target) {
    this.target = target;
    const inside = target instanceof Node ? target : null;
    for (const path of this.svg.children) {
      const { from, to } = /** @type {{from: HTMLElement, to: HTMLElement}} */ (ends.get(path));
      const on = inside !== null && (from.contains(inside) || to.contains(inside));
      path.classList.toggle("on", on);
      to.classList.toggle("on", on || isOn(this.svg, to));
      from.classList.toggle("on", on || isOn(this.svg, from));
    }
  }
}

/** @type {WeakMap<Element, {from: HTMLElement, to: HTMLElement}>} */
const ends = new WeakMap();

/**
 * Whether another link that is on ends at the same element.
 *
 * @param {SVGElement} svg
 * @param {HTMLElement} element
 */
function isOn(svg, element) {
  return [...svg.querySelectorAll(".on")].some((path) => {
    const end = ends.get(path);
    return end?.from === element || end?.to === element;
  });
}
