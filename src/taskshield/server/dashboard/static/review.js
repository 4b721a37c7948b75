/** Review of false positives: what was blocked, and people's labels on whether that was right. */

import { address, get, may } from "./api.js";
import { actionBadge } from "./badges.js";
import { fill, h, icon } from "./dom.js";
import { ago, counted, fullTime } from "./format.js";
import { removeLabel, setLabel } from "./labels.js";
import { failure, nothing, toast, wordsOf } from "./notices.js";
import { sessionLink } from "./routes.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").AuditRecord} AuditRecord */
/** @typedef {import("./api_types.js").Label} Label */

const SHOWN = 30;
const BLOCKING = /** @type {const} */ (["block", "revise", "escalate"]);

export class Review {
  constructor() {
    /** @type {Map<string, Label>} */
    this.labels = new Map();
    this.list = h("ol.review");
    this.count = h("span.quiet", { role: "status" });
    this.element = h(
      "section.panel.review-panel",
      {},
      h(
        "header.bar",
        {},
        h("h2", {}, "Was it right to block this?"),
        h("span.push"),
        this.count,
        h(
          "a.button",
          { href: address("/api/labels/export", {}), download: "labels.jsonl" },
          icon("download"),
          "Export labelled cases",
        ),
      ),
      this.list,
    );
  }

  async load() {
    try {
      const [labels, ...pages] = await Promise.all([
        get("/api/labels", { limit: 200 }),
        ...BLOCKING.map((action) => get("/api/decisions", { action, limit: SHOWN })),
      ]);
      this.labels = new Map(
        labels.items.map((label) => [label.decision, label]),
      );
      const records = pages
        .flatMap((page) => page.items)
        .sort((one, other) => (one.at < other.at ? 1 : -1))
        .slice(0, SHOWN);
      fill(
        this.list,
        records.length === 0
          ? h(
              "li",
              {},
              nothing("shield", "Nothing was blocked", "Blocked calls appear here for review."),
            )
          : records.map((record) => this.#row(record)),
      );
      this.#count();
    } catch (error) {
      fill(
        this.list,
        h(
          "li",
          {},
          failure(error, () => this.load()),
        ),
      );
    }
  }

  #count() {
    const wrong = [...this.labels.values()].filter((label) => label.label === "wrong").length;
    fill(this.count, `${counted(this.labels.size, "label")}, ${wrong} wrong`);
  }

  /** @param {AuditRecord} record */
  #row(record) {
    const note = h("input", {
      type: "text",
      maxlength: "2000",
      placeholder: "Note (optional)",
      "aria-label": "Note",
    });
    return h(
      "li.review-row",
      {},
      actionBadge(record.action),
      h(
        "div",
        {},
        said(record.summary === "" ? "The text was not stored." : record.summary, "p"),
        h(
          "p.quiet",
          {},
          said(record.session, "a.mono", { href: sessionLink(record.session, record.number) }),
          " · ",
          h("time", { datetime: record.at, title: fullTime(record.at) }, ago(record.at)),
        ),
      ),
      may("approve") && h("div.review-end", {}, note, this.#choices(record, note)),
    );
  }

  /**
   * @param {AuditRecord} record
   * @param {HTMLInputElement} note
   */
  #choices(record, note) {
    const buttons = /** @type {const} */ (["right", "wrong"]).map((label) =>
      h(
        "button.button.small",
        {
          type: "button",
          "data-label": label,
          onclick: async () => {
            const chosen = this.labels.get(record.id)?.label === label;
            await this.#say(record.id, chosen ? null : label, note.value.trim());
            show();
          },
        },
        label === "right" ? "Right" : "Wrong",
      ),
    );
    const show = () => {
      const now = this.labels.get(record.id);
      note.value = now?.note ?? note.value;
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.label === now?.label));
      }
    };
    show();
    return h("div.review-choices", {}, buttons);
  }

  /**
   * @param {string} id
   * @param {"right" | "wrong" | null} label
   * @param {string} note
   */
  async #say(id, label, note) {
    try {
      if (label === null) {
        await removeLabel(id);
        this.labels.delete(id);
      } else {
        this.labels.set(id, await setLabel(id, label, note));
      }
      this.#count();
    } catch (error) {
      toast(wordsOf(error), "bad");
    }
  }
}
