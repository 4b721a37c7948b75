/** Messages one below the other, with the links between them; grows at its end. */

import { h } from "./dom.js";
import { EvidenceLinks } from "./evidence_links.js";
import { MessageCard } from "./message_card.js";

/** @typedef {import("./api_types.js").Item} Item */

export class Timeline {
  /** @param {ConstructorParameters<typeof MessageCard>[1]} [options] */
  constructor(options = {}) {
    this.options = options;
    /** @type {Map<number, MessageCard>} */
    this.cards = new Map();
    this.list = h("div.messages");
    this.element = h("div.timeline", {}, this.list);
    this.links = new EvidenceLinks(this.element, this.cards);
  }

  /** @returns {Item[]} */
  get items() {
    return [...this.cards.values()].map((card) => card.item);
  }

  /**
   * Add messages; those that are there already stay as they are.
   *
   * @param {Item[]} items
   */
  add(items) {
    const added = items.filter((item) => !this.cards.has(item.number));
    for (const item of added) {
      const card = new MessageCard(item, this.options);
      this.cards.set(item.number, card);
      this.list.append(card.element);
    }
    this.#markSources(added);
    this.links.draw();
  }

  stop() {
    this.links.stop();
  }

  /** @param {Item[]} added */
  #markSources(added) {
    const changed = new Set();
    for (const item of added) {
      for (const { places, origin } of item.evidence) {
        for (const place of places) {
          const card = this.cards.get(place.message);
          card?.addSource(place, origin);
          if (card !== undefined) changed.add(card);
        }
      }
    }
    for (const card of changed) card.showText();
  }
}
