/** Lists that come in pages. */

import { get } from "./api.js";

/** @typedef {"/api/sessions" | "/api/sessions/{session}/timeline"} PagedPath */

/**
 * The pages of one list, in order. Asking twice at once asks the server once.
 *
 * @template {PagedPath} P
 */
export class Pages {
  /**
   * @param {P} path
   * @param {import("./api_types.js").Given<"get", P>} parameters
   */
  constructor(path, parameters) {
    this.path = path;
    this.parameters = parameters;
    /** @type {string | number | null | undefined} */
    this.next = undefined;
    /** @type {Promise<import("./api_types.js").Answer<"get", P>> | null} */
    this.underWay = null;
  }

  get done() {
    return this.next === null;
  }

  /**
   * The next page as the server gives it.
   *
   * @returns {Promise<import("./api_types.js").Answer<"get", P>>}
   */
  more() {
    this.underWay ??= get(this.path, { ...this.parameters, after: this.next })
      .then((page) => {
        this.next = /** @type {{next: string | number | null}} */ (page).next;
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
