/** Live: sessions as they happen, the newest on top. */

import { get } from "./api.js";
import { actionBadge } from "./badges.js";
import { fill, h, icon } from "./dom.js";
import { ago, count, counted, duration, fullTime } from "./format.js";
import { failure, nothing } from "./notices.js";
import { Pages, whenNear } from "./paging.js";
import { sessionLink } from "./routes.js";
import { on } from "./stream.js";
import { tile, tiles } from "./tiles.js";
import { clipped, said, visibleText } from "./visible.js";

/** @typedef {import("./api_types.js").SessionRow} SessionRow */

const AT_ONCE = 100;
const POLL_MS = 10_000;
const COUNT_MS = 30_000;
const SETTLE_MS = 300;
const LONGEST_TASK = 140;

/** @type {Record<string, (row: SessionRow) => boolean>} */
const OUTCOMES = {
  all: () => true,
  blocked: (row) => row.blocked > 0,
  asked: (row) => row.escalated > 0,
  clear: (row) => row.blocked === 0 && row.escalated === 0,
};

export class LiveView {
  title = "Live";
  section = "live";

  constructor() {
    /** @type {Map<string, {row: SessionRow, element: HTMLElement, written: string}>} */
    this.shown = new Map();
    this.pages = new Pages("/api/sessions", { limit: AT_ONCE });
    this.paused = false;
    this.refreshing = 0;
    this.tiles = tiles([
      tile("Checks, 24 h"),
      tile("Blocked"),
      tile("Asked a person"),
      tile("Median time"),
    ]);
    this.list = h("ol.rows");
    this.end = h("div.list-end");
    this.found = h("p.quiet", { role: "status" });
    this.words = h("input", {
      type: "search",
      placeholder: "Session, agent, task or surface",
      "aria-label": "Filter sessions",
    });
    this.outcome = h(
      "select",
      { "aria-label": "Outcome" },
      h("option", { value: "all" }, "Every outcome"),
      h("option", { value: "blocked" }, "Something blocked"),
      h("option", { value: "asked" }, "A person was asked"),
      h("option", { value: "clear" }, "Nothing blocked or asked"),
    );
    /** @type {(() => void)[]} */
    this.endings = [];
  }

  /** @param {HTMLElement} main */
  show(main) {
    const filter = () => this.#filter();
    this.words.addEventListener("input", filter);
    this.outcome.addEventListener("change", filter);
    fill(
      main,
      h(
        "header.view-head",
        {},
        h("h1", {}, "Live"),
        h("p.quiet", {}, "What agents do, and what the shield decides."),
      ),
      this.tiles,
      h(
        "div.bar",
        { role: "search" },
        h("label.field.grow.with-icon", {}, icon("search"), this.words),
        this.outcome,
        this.#pauseButton(),
        h("span.push"),
        this.found,
      ),
      h(
        "div.rows-head",
        { "aria-hidden": "true" },
        ["Last decision", "Session", "Tasks", "Messages", "Blocked", "Asked", "Last seen"].map(
          (word) => h("span", {}, word),
        ),
      ),
      this.list,
      this.end,
    );
    const poll = setInterval(() => this.#refresh(), POLL_MS);
    const counting = setInterval(() => this.#count(), COUNT_MS);
    this.endings.push(
      () => clearInterval(poll),
      () => clearInterval(counting),
      () => clearTimeout(this.refreshing),
      on("decision", () => this.#refreshSoon()),
      on("reset", () => this.#refreshSoon()),
      whenNear(this.end, () => this.#more()),
    );
    this.#more().then(() => this.#count());
  }

  stop() {
    for (const end of this.endings) end();
  }

  #pauseButton() {
    const button = h(
      "button.button",
      { type: "button", "aria-pressed": "false" },
      icon("pause"),
      "Pause",
    );
    button.addEventListener("click", () => {
      this.paused = !this.paused;
      button.setAttribute("aria-pressed", String(this.paused));
      if (!this.paused) this.#refresh();
    });
    return button;
  }

  /** Several events in quick succession cause one request. */
  #refreshSoon() {
    clearTimeout(this.refreshing);
    this.refreshing = setTimeout(() => this.#refresh(), SETTLE_MS);
  }

  async #refresh() {
    if (this.paused || document.hidden) return;
    try {
      const page = await get("/api/sessions", { limit: AT_ONCE });
      this.#merge(page.items, true);
    } catch {
      // The next poll tries again; the connection's state is shown in the frame.
    }
  }

  async #count() {
    const stats = document.hidden ? null : await get("/api/stats", { hours: 24 }).catch(() => null);
    if (stats === null) return;
    const { checks, actions, latency } = stats;
    const values = [
      count(checks.executed),
      count(actions.block + actions.revise),
      count(actions.escalate),
      duration(latency.p50),
    ];
    this.tiles
      .querySelectorAll(".tile-value")
      .forEach((place, index) => fill(place, values[index]));
  }

  async #more() {
    if (this.pages.done || this.pages.underWay !== null) return;
    fill(this.end, h("p.quiet", {}, "Loading …"));
    try {
      this.#merge((await this.pages.more()).items, false);
    } catch (error) {
      fill(
        this.end,
        failure(error, () => this.#more()),
      );
      return;
    }
    fill(this.end, this.shown.size === 0 ? this.#welcome() : null);
    this.#filter();
  }

  #welcome() {
    return nothing("live", "No session yet", "The first check of an agent appears here.");
  }

  /**
   * @param {SessionRow[]} rows newest first
   * @param {boolean} onTop whether they are the newest of all
   */
  #merge(rows, onTop) {
    let before = this.list.firstElementChild;
    for (const row of rows) {
      const element = this.#element(row, onTop);
      if (!onTop) {
        if (!element.isConnected) this.list.append(element);
      } else if (element === before) {
        before = element.nextElementSibling;
      } else {
        this.list.insertBefore(element, before);
      }
    }
    if (this.shown.size > 0 && this.pages.done) fill(this.end);
    this.#filter();
  }

  /**
   * @param {SessionRow} row
   * @param {boolean} live
   */
  #element(row, live) {
    const known = this.shown.get(row.id);
    const written = JSON.stringify(row);
    if (known?.written === written) {
      refreshTime(known.element, row);
      return known.element;
    }
    const element = known?.element ?? h("li.row");
    fill(element, rowCells(row));
    if (live) pulse(element);
    this.shown.set(row.id, { row, element, written });
    return element;
  }

  #filter() {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = OUTCOMES[this.outcome.value];
    let matching = 0;
    for (const { row, element } of this.shown.values()) {
      const text = [row.id, row.agent, row.surface, ...row.tasks].join("\n").toLowerCase();
      element.hidden = !(fits(row) && words.every((word) => text.includes(word)));
      if (!element.hidden) matching += 1;
    }
    fill(this.found, this.#foundWords(matching));
    const filtered = matching < this.shown.size;
    if (filtered && !this.pages.done && this.end.getBoundingClientRect().top < 2 * innerHeight)
      this.#more();
  }

  /** @param {number} matching */
  #foundWords(matching) {
    const more = this.pages.done ? "" : "+";
    if (matching === this.shown.size) return `${counted(matching, "session")}${more}`;
    return `${count(matching)} of ${counted(this.shown.size, "session")}${more}`;
  }
}

/** @param {SessionRow} row */
function rowCells(row) {
  const [first, ...others] = row.tasks;
  return [
    h(
      "div.row-action",
      {},
      row.last_action === null ? h("span.badge.plain", {}, "New") : actionBadge(row.last_action),
    ),
    h(
      "div.row-session",
      {},
      said(row.id, "a.mono.row-link", { href: sessionLink(row.id) }),
      h(
        "div.row-origin",
        {},
        row.surface !== null && said(row.surface, "span.tag"),
        row.agent !== null && said(row.agent, "span.row-agent.quiet", { title: visibleText(row.agent) }),
      ),
    ),
    h(
      "div.row-task",
      {},
      first === undefined ? h("span.quiet", {}, "no task yet") : said(clipped(first, LONGEST_TASK)),
      others.length > 0 && h("span.quiet", {}, ` +${others.length}`),
    ),
    number(row.messages, "messages"),
    number(row.blocked, "blocked", row.blocked > 0 ? "bad" : ""),
    number(row.escalated, "asked", row.escalated > 0 ? "ask" : ""),
    h("time.row-time.quiet", { datetime: seen(row), title: fullTime(seen(row)) }, ago(seen(row))),
  ];
}

/**
 * @param {number} value
 * @param {string} word
 * @param {string} [tone]
 */
function number(value, word, tone = "") {
  return h(
    `div.row-number${tone === "" ? "" : `.${tone}`}`,
    {},
    count(value),
    h("span.row-word", {}, ` ${word}`),
  );
}

/** @param {SessionRow} row */
function seen(row) {
  return row.last_at ?? row.updated_at;
}

/**
 * @param {HTMLElement} element
 * @param {SessionRow} row
 */
function refreshTime(element, row) {
  const time = element.querySelector("time");
  if (time !== null) time.textContent = ago(seen(row));
}

/** @param {HTMLElement} element */
function pulse(element) {
  element.classList.remove("fresh");
  requestAnimationFrame(() => element.classList.add("fresh"));
}
