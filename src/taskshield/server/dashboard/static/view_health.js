/** Health: what was checked, how long it took, what was blocked, and whether that was right. */

import { get, readiness } from "./api.js";
import { barList, columnChart } from "./charts.js";
import { fill, h, icon } from "./dom.js";
import { count, duration, share } from "./format.js";
import { failure } from "./notices.js";
import { Review } from "./review.js";
import { tile, tiles } from "./tiles.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").Stats} Stats */
/** @typedef {Stats["by_hour"][number]} Hour */
/** @typedef {Stats["by_tool"][number]} Named */
/** @typedef {"executed" | "skipped" | "annotated" | "escalated" | "blocked"} Count */

const POLL_MS = 30_000;
const MOST_COLUMNS = 60;
const PERIODS = [
  [24, "24 hours"],
  [168, "7 days"],
  [720, "30 days"],
];
const CHECKS = [
  { name: "passed", tone: "plain" },
  { name: "annotated", tone: "warn" },
  { name: "asked a person", tone: "ask" },
  { name: "blocked", tone: "bad" },
];
const SHOWN = CHECKS.slice(1);

export class HealthView {
  title = "Health";
  section = "health";

  constructor() {
    this.period = h(
      "select",
      { "aria-label": "Period", onchange: () => this.#load() },
      PERIODS.map(([hours, words]) => h("option", { value: hours }, `Last ${words}`)),
    );
    this.state = h("p.state", { role: "status" }, "\u00a0");
    this.figures = h("div.figures");
    this.review = new Review();
    /** @type {(() => void)[]} */
    this.endings = [];
  }

  /** @param {HTMLElement} main */
  show(main) {
    fill(
      main,
      h(
        "header.view-head",
        {},
        h("h1", {}, "Health"),
        h("p.quiet", {}, "What the guard checked, how fast, and what it blocked."),
      ),
      h("div.bar", {}, this.period, h("span.push"), this.state),
      this.figures,
      this.review.element,
    );
    const poll = setInterval(() => this.#load(), POLL_MS);
    this.endings.push(() => clearInterval(poll));
    this.#load();
    this.review.load();
  }

  stop() {
    for (const end of this.endings) end();
  }

  async #load() {
    try {
      const [stats, ready] = await Promise.all([
        get("/api/stats", { hours: Number(this.period.value) }),
        readiness(),
      ]);
      fill(this.figures, figures(stats));
      fill(this.state, readyWords(ready));
    } catch (error) {
      fill(
        this.figures,
        failure(error, () => this.#load()),
      );
    }
  }
}

/** @param {{ready: boolean, reasons: string[]}} state */
function readyWords({ ready, reasons }) {
  if (ready) return h("span.badge.good", {}, icon("check"), "Ready: the self-test passed");
  return [
    h("span.badge.bad", {}, icon("cross"), "Not ready"),
    " ",
    said(reasons.join("; "), "span.quiet"),
  ];
}

/** @param {Stats} stats */
function figures(stats) {
  const { checks, actions, latency, llm } = stats;
  const blocked = actions.block + actions.revise;
  const whole = stats.decisions;
  return [
    tiles([
      tile("Checked", count(checks.executed), `${count(checks.skipped)} skipped`),
      tile(
        "Check failed",
        count(checks.failed),
        share(checks.failed, whole),
        checks.failed > 0 ? "bad" : "",
      ),
      tile("Blocked", count(blocked), share(blocked, whole)),
      tile("Asked a person", count(actions.escalate), share(actions.escalate, whole)),
      tile(
        "Median time",
        duration(latency.p50),
        `p90 ${duration(latency.p90)}, p99 ${duration(latency.p99)}`,
      ),
      tile("LLM calls", count(llm.calls), `${count(llm.tokens)} tokens`),
    ]),
    !stats.complete &&
      h("p.note", {}, `Only the newest ${count(stats.decisions)} decisions are counted.`),
    h("section.panel", {}, columnChart("Checks over time", CHECKS, columns(stats.by_hour))),
    h(
      "div.two",
      {},
      h("section.panel", {}, h("h2", {}, "Interventions by tool"), named(stats.by_tool)),
      h("section.panel", {}, h("h2", {}, "Interventions by risk tier"), named(stats.by_tier)),
    ),
  ];
}

/** @param {Named[]} rows */
function named(rows) {
  const found = rows
    .map(({ name, annotated, escalated, blocked }) => ({
      name,
      values: [annotated, escalated, blocked],
    }))
    .filter(({ values }) => values.some((value) => value > 0));
  if (found.length === 0) return h("p.quiet", {}, "No interventions.");
  return barList(SHOWN, found.slice(0, 8));
}

/**
 * Hours as columns; several in one where there would be too many.
 *
 * @param {Hour[]} hours
 */
function columns(hours) {
  const size = Math.ceil(hours.length / MOST_COLUMNS);
  const found = [];
  for (let at = 0; at < hours.length; at += size) {
    const some = hours.slice(at, at + size);
    found.push({ label: moment(some[0].hour), values: sums(some) });
  }
  return found;
}

/** @param {Hour[]} hours */
function sums(hours) {
  const total = (/** @type {Count} */ key) =>
    hours.reduce((sum, hour) => sum + hour[key], 0);
  const acted = [total("annotated"), total("escalated"), total("blocked")];
  const passed = total("executed") + total("skipped") - acted.reduce((sum, value) => sum + value, 0);
  return [Math.max(0, passed), ...acted];
}

const MOMENT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** @param {string} at */
function moment(at) {
  return MOMENT.format(new Date(at));
}
