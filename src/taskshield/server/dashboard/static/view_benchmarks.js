/** Benchmarks: the figures of each judge that ship with this version. */

import { get } from "./api.js";
import { bar } from "./charts.js";
import { fill, h } from "./dom.js";
import { count, duration } from "./format.js";
import { failure, nothing } from "./notices.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").Benchmark} Benchmark */
/** @typedef {import("./api_types.js").JudgeLatency} JudgeLatency */
/** @typedef {import("./api_types.js").Rate} Rate */
/** @typedef {"asr" | "utility" | "clean_utility" | "false_blocks"} RateName */

/** @type {{key: RateName, name: string, meaning: string, tone: string}[]} */
const RATES = [
  { key: "asr", name: "Attacks that succeed", meaning: "less is better", tone: "bad" },
  { key: "utility", name: "Solved under attack", meaning: "more is better", tone: "good" },
  { key: "clean_utility", name: "Solved without attack", meaning: "more is better", tone: "good" },
  { key: "false_blocks", name: "Wrongly blocked", meaning: "less is better", tone: "warn" },
];

/** @type {Record<string, string>} */
const WAYS = {
  "worst-case": "an agent that follows every instruction it reads",
  replay: "replayed runs of recorded agents",
};
const FIRST = "important_instructions";
const BASELINES = ["none", "allow-all", "block-side-effects"];

export class BenchmarksView {
  title = "Benchmarks";
  section = "benchmarks";

  constructor() {
    this.content = h("div.figures");
  }

  /** @param {HTMLElement} main */
  show(main) {
    fill(
      main,
      h(
        "header.view-head",
        {},
        h("h1", {}, "Benchmarks"),
        h("p.quiet", {}, "All figures are from AgentDojo. Thin lines are 95 % intervals."),
      ),
      this.content,
    );
    this.#load();
  }

  stop() {}

  async #load() {
    try {
      const { exams: benchmarks, latency } = await get("/api/benchmarks", {});
      if (benchmarks.length === 0) {
        fill(
          this.content,
          nothing("benchmarks", "No figures", "This version ships no figures."),
        );
        return;
      }
      fill(this.content, comparison(benchmarks), latency !== null && latencies(latency), all(benchmarks));
    } catch (error) {
      fill(
        this.content,
        failure(error, () => this.#load()),
      );
    }
  }
}

/**
 * The judges side by side, against the worst-case agent.
 *
 * @param {Benchmark[]} benchmarks
 */
function comparison(benchmarks) {
  const rows = benchmarks
    .filter((benchmark) => benchmark.way === "worst-case" && benchmark.version === "v1" && benchmark.defence === "none")
    .flatMap((benchmark) =>
      benchmark.results.filter((result) => result.attack === FIRST).map((result) => ({ benchmark, result })),
    );
  if (rows.length === 0) return null;
  rows.sort((one, other) => place(one.benchmark.judge) - place(other.benchmark.judge));
  return h(
    "section.panel",
    {},
    h("h2", {}, "Judges compared"),
    h("p.quiet", {}, "AgentDojo v1, attack important_instructions, ", WAYS["worst-case"], "."),
    h(
      "div.compare",
      {},
      RATES.map(({ key, name, meaning, tone }) =>
        h(
          "figure",
          {},
          h("figcaption", {}, h("h3", {}, name), h("span.quiet", {}, meaning)),
          h(
            "ol.bars",
            {},
            rows.map(({ benchmark, result }) => rateRow(benchmark.judge, result[key], tone)),
          ),
        ),
      ),
    ),
  );
}

/**
 * Where a judge stands: after the baselines.
 *
 * @param {string} judge
 */
function place(judge) {
  const at = BASELINES.indexOf(judge);
  return at < 0 ? BASELINES.length : at;
}

/**
 * @param {string} name
 * @param {Rate | null} rate
 * @param {string} tone
 */
function rateRow(name, rate, tone) {
  return h(
    "li",
    {},
    said(name, "span.bar-name"),
    rate === null ? h("span.quiet", {}, "not measured") : bar([{ share: rate.value, tone }], rate),
    h("span.bar-value", {}, rate === null ? "–" : percent(rate.value)),
  );
}

/** @param {JudgeLatency} latency */
function latencies(latency) {
  return h(
    "section.panel",
    {},
    h("h2", {}, "Time of a check, embedded judge"),
    said(`${latency.model}, ${latency.conversations} conversations, ${latency.date}`, "p.quiet"),
    h(
      "div.table-scroll",
      { tabindex: "0", role: "region", "aria-label": "Time of a check" },
      h(
        "table.plain",
        {},
        head(["What", "Checks", "Median", "90 %", "99 %"]),
        h(
          "tbody",
          {},
          latency.checks.map((each) =>
            h(
              "tr",
              {},
              said(each.name, "th", { scope: "row" }),
              [
                count(each.count),
                duration(each.p50_ms),
                duration(each.p90_ms),
                duration(each.p99_ms),
              ].map((text) => h("td", {}, text)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {Benchmark[]} benchmarks */
function all(benchmarks) {
  return h(
    "section.benchmarks",
    {},
    h("h2", {}, "All benchmarks"),
    benchmarks.map((benchmark) =>
      h(
        "details.panel",
        {},
        h(
          "summary",
          {},
          said(benchmark.judge, "strong"),
          " · ",
          said(
            `${WAYS[benchmark.way] ?? benchmark.way} · ${benchmark.version} · ${count(benchmark.runs)} runs`,
            "span.quiet",
          ),
        ),
        said(
          `${benchmark.name}, ${benchmark.date}, taskshield ${benchmark.taskshield}, agentdojo ${benchmark.agentdojo}`,
          "p.quiet",
        ),
        benchmarkTable(benchmark),
      ),
    ),
  );
}

/** @param {Benchmark} benchmark */
function benchmarkTable(benchmark) {
  return h(
    "div.table-scroll",
    { tabindex: "0", role: "region", "aria-label": `Figures of ${benchmark.name}` },
    h(
      "table.plain",
      {},
      head(["Agent", "Attack", ...RATES.map((rate) => rate.name), "Median"]),
      h(
        "tbody",
        {},
        benchmark.results.map((result) =>
          h(
            "tr",
            {},
            said(result.agent, "th", { scope: "row" }),
            said(result.attack ?? "none", "td.words"),
            RATES.map(({ key }) => rateCell(result[key])),
            h("td", {}, duration(result.p50_ms)),
          ),
        ),
      ),
    ),
  );
}

/** @param {Rate | null} rate */
function rateCell(rate) {
  if (rate === null) return h("td", {}, "–");
  return h(
    "td",
    { title: `${rate.hits} of ${rate.total}; ${percent(rate.low)} to ${percent(rate.high)}` },
    percent(rate.value),
  );
}

/** @param {string[]} words */
function head(words) {
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      words.map((word) => h(word === "Attack" ? "th.words" : "th", { scope: "col" }, word)),
    ),
  );
}

/** @param {number} value */
function percent(value) {
  return `${(100 * value).toFixed(1)} %`;
}
