/** One approval: the call, the time left, and the two answers. */

import { get, may } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { ago, remaining } from "./format.js";
import { taskList } from "./matrix.js";
import { MessageCard } from "./message_card.js";
import { sessionLink } from "./routes.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").Approval} Approval */
/** @typedef {"approve" | "deny"} Verdict */

const SOON_MS = 60_000;

const UNKNOWN = () =>
  h("p.quiet", {}, "The call cannot be shown: only its summary is stored.");

const SETTLED = {
  approved: { tone: "good", icon: "check", word: "Approved" },
  denied: { tone: "bad", icon: "cross", word: "Denied" },
  expired: { tone: "plain", icon: "pause", word: "Expired" },
};

/**
 * Who decided, in words. On a server without keys people have no names.
 *
 * @param {Approval} approval
 */
export function byWhom({ decided_by: name }) {
  return name === null || name === "nobody" ? "" : ` by ${name}`;
}

export class ApprovalCard {
  /**
   * @param {Approval} approval
   * @param {(card: ApprovalCard, verdict: Verdict, note: string) => void} decide
   */
  constructor(approval, decide) {
    this.approval = approval;
    this.decide = decide;
    this.deadline = h("span.deadline");
    this.answer = h("div.answer");
    this.details = h("div.approval-details");
    this.notice = h("p.card-notice", { role: "status" });
    this.summary = said(approval.summary, "p.summary");
    this.element = h(
      "li.approval",
      { tabindex: "-1" },
      h(
        "header",
        {},
        said(approval.session, "a.mono", {
          href: sessionLink(approval.session),
          title: "See the whole session",
        }),
        h("span.quiet", {}, `asked ${ago(approval.created_at)}`),
        h("span.push"),
        this.deadline,
      ),
      this.summary,
      this.details,
      this.answer,
      this.notice,
    );
    this.show(approval);
  }

  get pending() {
    return this.approval.status === "pending" && Date.parse(this.approval.deadline) > Date.now();
  }

  /**
   * Show its current state.
   *
   * @param {Approval} approval
   */
  show(approval) {
    this.approval = approval;
    this.element.classList.toggle("settled", !this.pending);
    if (!this.pending) this.summary.hidden = false;
    fill(this.answer, this.pending ? this.#choices() : null);
    if (!this.pending) this.#settled();
    this.tick();
  }

  /** Update the time that is left. */
  tick() {
    if (this.pending) {
      const left = Date.parse(this.approval.deadline) - Date.now();
      this.deadline.classList.toggle("soon", left < SOON_MS);
      fill(this.deadline, `${remaining(left)} left`);
    } else if (this.approval.status === "pending") {
      this.show({ ...this.approval, status: "expired" });
    }
  }

  /**
   * Show a notice below it.
   *
   * @param {string} text
   */
  showNotice(text) {
    fill(this.notice, said(text));
  }

  /**
   * Ask for a reason before the answer is sent.
   *
   * @param {Verdict} verdict
   */
  ask(verdict) {
    if (!this.pending || !may("approve")) return;
    const note = h("input", {
      type: "text",
      maxlength: "2000",
      placeholder: "Reason (optional)",
      "aria-label": "Reason",
    });
    const form = h(
      "form.reason",
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.decide(this, verdict, note.value.trim());
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "Escape") return;
          fill(this.answer, this.#choices());
          this.element.focus();
        },
      },
      note,
      h(
        `button.button.${verdict === "approve" ? "primary" : "danger"}`,
        {},
        verdict === "approve" ? "Approve" : "Deny",
        h("kbd", {}, "Enter"),
      ),
      h(
        "button.button",
        { type: "button", onclick: () => fill(this.answer, this.#choices()) },
        "Cancel",
        h("kbd", {}, "Esc"),
      ),
    );
    fill(this.answer, form);
    note.focus();
  }

  /** Show the call and the user's tasks, once. */
  async explain() {
    if (this.details.hasChildNodes()) return;
    fill(this.details, h("p.quiet", {}, "Loading the call …"));
    try {
      const { session, number } = await get("/api/decisions/{decision}", {
        decision: this.approval.decision,
      });
      const page = await get("/api/sessions/{session}/timeline", {
        session,
        after: number - 1,
        limit: 1,
      });
      const item = page.items.find((each) => each.number === number);
      if (item === undefined) {
        fill(this.details, UNKNOWN());
        return;
      }
      this.summary.hidden = true;
      fill(
        this.details,
        h("h3", {}, "The user's tasks"),
        taskList(page.tasks, [item]),
        h("h3", {}, "The agent wants to"),
        new MessageCard(item).element,
      );
    } catch {
      fill(this.details, UNKNOWN());
    }
  }

  #choices() {
    if (!may("approve"))
      return h("p.quiet", {}, "Your key cannot decide this: it lacks the scope approve.");
    return h(
      "div.choices",
      {},
      h(
        "button.button.primary",
        { type: "button", onclick: () => this.ask("approve") },
        icon("check"),
        "Approve",
        h("kbd", {}, "a"),
      ),
      h(
        "button.button.danger",
        { type: "button", onclick: () => this.ask("deny") },
        icon("cross"),
        "Deny",
        h("kbd", {}, "d"),
      ),
    );
  }

  #settled() {
    const { status, decided_at: at, note } = this.approval;
    const known = SETTLED[status === "pending" ? "expired" : status];
    fill(this.deadline, h(`span.badge.${known.tone}`, {}, icon(known.icon), known.word));
    const words = [
      byWhom(this.approval).trim(),
      at !== null && ago(at),
      note !== "" && `“${note}”`,
    ].filter(Boolean);
    if (words.length > 0) fill(this.answer, said(words.join(" · "), "p.quiet"));
  }
}
