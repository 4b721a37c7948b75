/** One message of a timeline: who spoke, the text, what was found in it, and the action on it. */

import { actionBadge, levelClass, levelTag } from "./badges.js";
import { callCard } from "./call_card.js";
import { h, icon } from "./dom.js";
import { clock, count, counted, duration, fullTime, score } from "./format.js";
import { showMarked } from "./marked_text.js";
import { said, visibleText } from "./visible.js";

/** @typedef {import("./api_types.js").Item} Item */
/** @typedef {import("./api_types.js").Evidence} Evidence */
/** @typedef {import("./api_types.js").Finding} Finding */
/** @typedef {import("./marked_text.js").Highlight} Highlight */

/** @typedef {{evidence: Evidence, from: HTMLElement, to: {message: number, key: string}}} Link */

/** A message on the page. Places in it that values came from are added as they become known. */
export class MessageCard {
  /**
   * @param {Item} item
   * @param {{actions?: (item: Item) => HTMLElement | null}} [options] buttons below it
   */
  constructor(item, options = {}) {
    this.item = item;
    /** @type {Link[]} where values of its calls came from */
    this.links = [];
    /** @type {Map<string, Highlight>} */
    this.sources = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.anchors = new Map();
    this.text = h("div.said.text");
    this.element = this.#build(options);
    this.showText();
  }

  /**
   * A value came from here.
   *
   * @param {import("./api_types.js").Place} place
   * @param {string} origin
   * @returns {string} the key under which `anchors` has the place
   */
  addSource(place, origin) {
    const key = `s${place.start}-${place.end}`;
    const tone = origin === "directive" ? "source injected" : "source";
    this.sources.set(key, { start: place.start, end: place.end, tone, key });
    return key;
  }

  /** Show the text again, with all highlights known by now. */
  showText() {
    const found = this.item.decision.findings.flatMap((finding, index) =>
      this.#highlight(finding, index),
    );
    this.anchors = showMarked(this.text, this.item.text, [...found, ...this.sources.values()]);
    this.text.hidden = this.item.text === "";
  }

  /**
   * @param {Finding} finding
   * @param {number} index
   * @returns {Highlight[]}
   */
  #highlight(finding, index) {
    const { span, message } = finding.instruction.origin;
    if (!span || message !== this.item.number) return [];
    const tone = finding.aligned ? "good" : "bad";
    return [{ start: span.start, end: span.end, tone, key: `f${index}`, label: String(index + 1) }];
  }

  /** @param {{actions?: (item: Item) => HTMLElement | null}} options */
  #build({ actions }) {
    const { number, level, at, decision } = this.item;
    return h(
      `article.message.${levelClass(level)}`,
      { id: `message-${number}`, "aria-label": visibleText(`Message ${number}, ${level}`) },
      h(
        "header",
        {},
        h("span.number", {}, `#${number}`),
        levelTag(level),
        at !== null && h("time.quiet", { datetime: at, title: fullTime(at) }, clock(at)),
        h("span.push"),
        decision.check === "failed" ? actionBadge("failed") : null,
        decision.check === "skipped" && decision.allowed
          ? h("span.quiet", { title: "it has nothing to check" }, "nothing to check")
          : actionBadge(decision.action),
      ),
      this.text,
      this.#calls(),
      this.#findings(),
      decision.unreadable.length > 0 &&
        said(`The judge cannot read: ${decision.unreadable.join(", ")}`, "p.quiet"),
      decision.outage !== null &&
        said(`Outage (${decision.outage.kind}): ${decision.outage.detail}`, "p.outage"),
      decision.feedback !== null && folded("Feedback to the agent", decision.feedback),
      this.#footer(actions),
    );
  }

  #calls() {
    const { decision, evidence } = this.item;
    return decision.calls.map((call) => {
      const finding = decision.findings.find((each) => each.call_id === call.id);
      const own = evidence.filter((each) => each.call_id === call.id);
      const { element, ends } = callCard(
        call,
        finding?.instruction.origin.arguments ?? null,
        own,
        decision.calls.length === 1 && call.action === decision.action,
      );
      for (const [item, from] of ends) {
        for (const place of item.places) {
          const key = `s${place.start}-${place.end}`;
          this.links.push({ evidence: item, from, to: { message: place.message, key } });
        }
      }
      return element;
    });
  }

  #findings() {
    const { findings } = this.item.decision;
    if (findings.length === 0) return null;
    return h(
      "ol.findings",
      {},
      findings.map((finding, index) => findingRow(finding, index)),
    );
  }

  /** @param {((item: Item) => HTMLElement | null) | undefined} actions */
  #footer(actions) {
    const { decision } = this.item;
    if (decision.check === "skipped") return null;
    const { usage } = decision;
    const facts = [
      decision.cached ? "cached" : duration(decision.elapsed_ms),
      usage.calls > 0 && counted(usage.calls, "model call"),
      usage.calls > 0 && `${count(usage.prompt_tokens + usage.completion_tokens)} tokens`,
    ].filter((fact) => fact !== false);
    return h(
      "footer",
      {},
      said(`${decision.judge} · ${facts.join(" · ")}`, "span.quiet"),
      h("span.push"),
      actions?.(this.item),
    );
  }
}

/**
 * @param {Finding} finding
 * @param {number} index
 */
function findingRow(finding, index) {
  const tone = finding.aligned ? "good" : "bad";
  return h(
    `li.finding.${tone}`,
    {},
    h("span.finding-number", {}, String(index + 1)),
    h(
      "div",
      {},
      said(finding.reason),
      finding.approved && h("span.quiet", {}, " Approved by a person."),
    ),
    h(
      "span.finding-score",
      { title: "sum of its scores, and the threshold that it must exceed" },
      icon(finding.aligned ? "check" : "cross"),
      h("span.sr-only", {}, finding.aligned ? "aligned, " : "misaligned, "),
      [
        score(finding.total),
        finding.total > finding.epsilon ? ">" : "≤",
        score(finding.epsilon),
      ].join(" "),
    ),
  );
}

/**
 * @param {string} title
 * @param {string} text
 */
export function folded(title, text) {
  return h("details.folded", {}, h("summary", {}, title), said(text, "div.quote"));
}
