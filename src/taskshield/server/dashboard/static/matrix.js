/** Scores as a matrix: instructions down, the user's tasks across. */

import { authorisationTag, levelClass } from "./badges.js";
import { h } from "./dom.js";
import { score } from "./format.js";
import { clipped, said, visibleText } from "./visible.js";

/** @typedef {import("./api_types.js").Item} Item */
/** @typedef {import("./api_types.js").Task} Task */
/** @typedef {import("./api_types.js").Finding} Finding */
/** @typedef {import("./api_types.js").Contradiction} Contradiction */

const LONGEST = 60;

/**
 * Those tasks, numbered as the matrix numbers them, with what each rules out.
 *
 * @param {Task[]} tasks
 * @param {Item[]} [items]
 */
export function taskList(tasks, items = []) {
  const ruledOut = items.flatMap((item) =>
    item.decision.findings.flatMap((finding) =>
      finding.contradictions.map((each) => ({ number: item.number, ...each })),
    ),
  );
  if (tasks.length === 0) return h("p.quiet", {}, "No tasks yet.");
  return h(
    "ol.tasks",
    {},
    tasks.map((task, index) =>
      h(
        "li",
        {},
        h("span.task-number", {}, `T${index + 1}`),
        h(
          "div",
          {},
          said(task.text),
          task.grant !== null && said(`delegated to ${task.grant.source}: ${task.grant.scope}`, "p.quiet"),
          ruledOut
            .filter((each) => each.target === task.id)
            .map((each) => said(`#${each.number}: ${against(each)}`, "p.outage")),
        ),
      ),
    ),
  );
}

/**
 * @param {Item[]} items
 * @param {Task[]} tasks
 * @param {(number: number) => string} linkTo where a message is
 */
export function matrix(items, tasks, linkTo) {
  const rows = items.flatMap((item) =>
    item.level === "user" ? [] : item.decision.findings.map((finding) => ({ item, finding })),
  );
  if (rows.length === 0)
    return h("p.quiet", {}, "No instructions were found.");
  return h(
    "table.matrix",
    {},
    h("caption.sr-only", {}, "How much each instruction serves each task"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Instruction"),
        tasks.map((task, index) =>
          h("th", { scope: "col", title: visibleText(task.text) }, `T${index + 1}`),
        ),
        h("th", { scope: "col", title: "sum over the tasks" }, "Sum"),
        h("th", { scope: "col", title: "how far the user's words carry it" }, "Authorisation"),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(({ item, finding }) => row(item, finding, tasks, linkTo)),
    ),
  );
}

/**
 * @param {Item} item
 * @param {Finding} finding
 * @param {Task[]} tasks
 * @param {(number: number) => string} linkTo
 */
function row(item, finding, tasks, linkTo) {
  const scores = new Map(finding.scores.map((each) => [each.target, each]));
  return h(
    `tr.${finding.aligned ? "good" : "bad"}`,
    {},
    h(
      "th",
      { scope: "row" },
      h(
        "a",
        { href: linkTo(item.number), class: `row-level ${levelClass(item.level)}` },
        `#${item.number}`,
      ),
      " ",
      said(clipped(finding.instruction.text, LONGEST)),
    ),
    tasks.map((task) => {
      const found = finding.contradictions.find((each) => each.target === task.id);
      return found === undefined ? cell(scores.get(task.id)) : ruledOutCell(found);
    }),
    h("td.sum", { title: `must exceed ${score(finding.epsilon)}` }, score(finding.total)),
    h("td", {}, authorisationTag(finding.authorisation)),
  );
}

/** @param {Contradiction} found */
function ruledOutCell(found) {
  return h("td.ruled-out", { title: visibleText(against(found)) }, "ruled out");
}

/** @param {Contradiction} found */
function against(found) {
  return `ruled out (${found.kind.replaceAll("_", " ")}): “${found.said}”, and “${found.does}”`;
}

/** @param {import("./api_types.js").Score | undefined} given */
function cell(given) {
  if (given === undefined) return h("td.none", {}, h("span.sr-only", {}, "not scored"));
  const depth = Math.round(10 * Math.min(1, Math.max(0, given.value)));
  return h("td", { class: `heat-${depth}`, title: visibleText(given.reason) }, score(given.value));
}
