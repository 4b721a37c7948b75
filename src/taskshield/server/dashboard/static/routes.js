/** Where things are in the page: addresses in the fragment. */

const LINK = "#/login/";

/**
 * @typedef {object} View
 * @property {string} title
 * @property {string} section the part of the page that it belongs to
 * @property {(main: HTMLElement) => void} show
 * @property {() => void} stop
 * @property {(words: string[]) => boolean} [accepts] whether it shows that route itself
 */

/**
 * The words of a fragment: "#/sessions/a%2Fb" is ["sessions", "a/b"].
 *
 * @param {string} fragment
 * @returns {string[]}
 */
export function wordsOfFragment(fragment) {
  return fragment.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
}

/**
 * @param {string} id
 * @param {number} [number] of a message
 */
export function sessionLink(id, number) {
  return `#/sessions/${encodeURIComponent(id)}${number === undefined ? "" : `/${number}`}`;
}

/** Whether the link that the server printed was opened. */
export function isLink() {
  return location.hash.startsWith(LINK);
}

/**
 * The token of the link that opened this page. It leaves the address and the history at once.
 *
 * @returns {string | null}
 */
export function tokenOfLink() {
  if (!isLink()) return null;
  const token = location.hash.slice(LINK.length);
  history.replaceState(null, "", location.pathname);
  return token;
}

/** @param {string} word */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
