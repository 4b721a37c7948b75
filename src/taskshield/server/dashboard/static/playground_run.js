/** The verdict of one judge on a conversation in the playground. */

import { BLOCKING } from "./badges.js";
import { h, icon } from "./dom.js";
import { counted, duration } from "./format.js";
import { matrix, taskList } from "./matrix.js";
import { Timeline } from "./timeline.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").Run} Run */

/**
 * @param {Run} run
 * @returns {{element: HTMLElement, stop: () => void}}
 */
export function runCard(run) {
  if (run.error !== null) {
    const element = h("section.run", {}, said(run.judge, "h2"), said(run.error, "p.note.bad"));
    return { element, stop: () => {} };
  }
  const timeline = new Timeline();
  const items = itemsOf(run);
  timeline.add(items);
  const element = h(
    "section.run",
    { "aria-label": "Verdict" },
    h("header", {}, said(run.judge, "h2"), h("span.quiet", {}, timeOf(run))),
    verdict(run),
    h(
      "details.panel",
      {},
      h("summary", {}, "Tasks and scores"),
      taskList(run.tasks, items),
      h(
        "div.matrix-scroll",
        { tabindex: "0", role: "region", "aria-label": "Scores" },
        matrix(items, run.tasks, () => "#/playground"),
      ),
    ),
    timeline.element,
  );
  return { element, stop: () => timeline.stop() };
}

/**
 * @param {Run} run
 * @returns {import("./api_types.js").Item[]}
 */
function itemsOf(run) {
  return run.decisions.map((decision, index) => ({
    number: decision.number,
    level: decision.level,
    text: run.texts[index],
    at: null,
    surface: null,
    agent: null,
    label: null,
    decision,
    evidence: run.evidence[index] ?? [],
  }));
}

/** @param {Run} run */
function verdict(run) {
  const blocked = run.decisions.filter((decision) => BLOCKING.has(decision.action));
  const marked = run.decisions.filter((decision) =>
    ["annotate", "redact", "withhold", "observe"].includes(decision.action),
  );
  const unchecked = run.decisions.filter((decision) => decision.check === "failed");
  if (blocked.length > 0) {
    const first = blocked[0].findings.find((finding) => !finding.aligned);
    return box(
      "bad",
      "cross",
      `Blocks ${counted(blocked.length, "step")}`,
      first?.reason ?? blocked[0].feedback ?? "",
    );
  }
  if (unchecked.length > 0)
    return box("bad", "hand", `Could not check ${counted(unchecked.length, "message")}`, "");
  if (marked.length > 0) {
    const first = marked[0].findings.find((finding) => !finding.aligned);
    return box(
      "warn",
      "note",
      `Delivers ${counted(marked.length, "message")} with a warning`,
      first?.reason ?? "",
    );
  }
  return box("good", "check", "Everything serves the user's tasks", "");
}

/**
 * @param {string} tone
 * @param {string} sign
 * @param {string} title
 * @param {string} reason
 */
function box(tone, sign, title, reason) {
  return h(
    `div.verdict.${tone}`,
    {},
    icon(sign),
    h("div", {}, h("strong", {}, title), reason !== "" && said(reason, "p")),
  );
}

/** @param {Run} run */
function timeOf(run) {
  return duration(run.decisions.reduce((sum, decision) => sum + decision.elapsed_ms, 0));
}
