/** Lists that come in pages. */

import { get } from "./api.js";

/** The pages of one list, one after the other; asking twice at once asks the server once. */
export class Pages {
  /**
   * @param {string} path
   * @param {Record<string, string | number | null | undefined>} query
   */
  constructor(path, query) {
    this.path = path;
    this.query = query;
    /** @type {string | number | null | undefined} */
    this.next = undefined;
    /** @type {Promise<any> | null} */
    this.underWay = null;
  }

  get done() {
    return this.next === null;
  }

  /**
   * The next page as the server gives it.
   *
   * @returns {Promise<any>}
   */
  more() {
    this.underWay ??= get(this.path, { ...this.query, after: this.next })
      .then((page) => {
        this.next = page.next;
        return page;
      })
      .finally(() => {
        this.underWay = null;
      });
    return this.underWay;
  }
}

/**
 * Call back whenever an element is near the visible part of the page.
 *
 * @param {Element} element
 * @param {() => void} callback
 * @returns {() => void} ends it
 */
export function whenNear(element, callback) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) callback();
    },
    { rootMargin: "600px" },
  );
  observer.observe(element);
  return () => observer.disconnect();
}
