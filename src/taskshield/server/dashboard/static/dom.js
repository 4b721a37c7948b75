/**
 * The only place that makes elements. Text becomes text nodes, never markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * The tag of "p.note.small".
 *
 * @template {string} N
 * @typedef {N extends `${infer Tag}.${string}` ? Tag : N} TagOf
 */

/**
 * The element that a name makes.
 *
 * @template {string} N
 * @typedef {TagOf<N> extends keyof HTMLElementTagNameMap
 *   ? HTMLElementTagNameMap[TagOf<N>] : HTMLElement} Made
 */

/**
 * An HTML element.
 *
 * @template {string} N
 * @param {N} name its tag, with classes after dots: "p.note.small"
 * @param {Record<string, unknown>} [properties] attributes; `on...` are listeners; what is false or
 *   null is left out
 * @param {...(Child | Child[])} children
 * @returns {Made<N>}
 */
export function h(name, properties = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  return /** @type {Made<N>} */ (furnished(element, properties, children));
}

/**
 * An SVG element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, properties = {}, ...children) {
  return furnished(document.createElementNS(SVG, tag), properties, children);
}

/**
 * An icon of icons.svg; nothing to those who cannot see it.
 *
 * @param {string} name
 */
export function icon(name) {
  return s(
    "svg",
    { class: "icon", "aria-hidden": "true" },
    s("use", { href: `/page/icons.svg#${name}` }),
  );
}

/**
 * Replace the children of an element.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, unknown>} properties
 * @param {(Child | Child[])[]} children
 * @returns {E}
 */
function furnished(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else if (key === "value") {
      /** @type {HTMLInputElement} */ (/** @type {unknown} */ (element)).value = String(value);
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) =>
      typeof child === "number" ? String(child) : /** @type {Node | string} */ (child),
    );
}
