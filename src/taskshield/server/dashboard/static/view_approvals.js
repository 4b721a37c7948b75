/** Approvals: calls that wait for a person, the most urgent first; and those decided lately. */

import { ApiError, get, send } from "./api.js";
import { ApprovalCard, byWhom } from "./approval_card.js";
import { fill, h } from "./dom.js";
import { counted } from "./format.js";
import { failure, nothing, toast, wordsOf } from "./notices.js";
import { on } from "./stream.js";

/** @typedef {import("./api_types.js").Approval} Approval */

const POLL_MS = 10_000;
const TICK_MS = 1000;
const SETTLED_SHOWN = 20;

export class ApprovalsView {
  title = "Approvals";
  section = "approvals";

  constructor() {
    /** @type {Map<string, ApprovalCard>} */
    this.cards = new Map();
    this.queue = h("ol.approvals", { "aria-label": "Waiting" });
    this.settled = h("ol.approvals", { "aria-label": "Decided" });
    this.empty = h("div");
    this.waiting = h("p.quiet", { role: "status" }, "\u00a0");
    this.settledPart = h(
      "section.settled-part",
      { hidden: true },
      h("h2", {}, "Decided lately"),
      this.settled,
    );
    /** @type {(() => void)[]} */
    this.endings = [];
  }

  /** @param {HTMLElement} main */
  show(main) {
    fill(
      main,
      h("header.view-head", {}, h("h1", {}, "Approvals"), this.waiting),
      h(
        "p.hints",
        {},
        hint("j", "next"),
        hint("k", "previous"),
        hint("a", "approve"),
        hint("d", "deny"),
        hint("Esc", "cancel"),
      ),
      this.empty,
      this.queue,
      this.settledPart,
    );
    const poll = setInterval(() => this.#load(), POLL_MS);
    const tick = setInterval(() => this.#tick(), TICK_MS);
    const key = (/** @type {KeyboardEvent} */ event) => this.#key(event);
    document.addEventListener("keydown", key);
    this.endings.push(
      () => clearInterval(poll),
      () => clearInterval(tick),
      () => document.removeEventListener("keydown", key),
      on("approval", (approval) => this.#settle(approval)),
      on("reset", () => this.#load()),
    );
    this.#load();
  }

  stop() {
    for (const end of this.endings) end();
  }

  get #waitingCards() {
    return [...this.queue.children]
      .map((element) => this.cards.get(/** @type {HTMLElement} */ (element).dataset.id ?? ""))
      .filter((card) => card !== undefined);
  }

  async #load() {
    try {
      const [pending, lately] = await Promise.all([
        get("/api/approvals", { status: "pending", limit: 200 }),
        get("/api/approvals", { limit: SETTLED_SHOWN }),
      ]);
      const settled = lately.items.filter((each) => each.status !== "pending");
      for (const approval of [...settled.reverse(), ...pending.items]) this.#put(approval);
      this.#sum();
    } catch (error) {
      fill(
        this.empty,
        failure(error, () => this.#load()),
      );
    }
  }

  /** @param {Approval} approval as the server just said it is */
  #settle(approval) {
    this.#put(approval);
    this.#sum();
  }

  /** @param {Approval} approval */
  #put(approval) {
    const known = this.cards.get(approval.id);
    const card = known ?? new ApprovalCard(approval, (...answer) => this.#decide(...answer));
    if (known === undefined) {
      card.element.dataset.id = approval.id;
      this.cards.set(approval.id, card);
      if (card.pending) card.explain();
    } else if (JSON.stringify(known.approval) !== JSON.stringify(approval)) {
      if (known.pending && approval.status !== "pending") this.#showOtherDecision(known, approval);
      card.show(approval);
    }
    this.#place(card);
  }

  /**
   * Another reviewer decided while this person looked at it.
   *
   * @param {ApprovalCard} card
   * @param {Approval} approval
   */
  #showOtherDecision(card, approval) {
    if (card.element.classList.contains("sending")) return;
    card.showNotice(`Another reviewer decided: ${approval.status}${byWhom(approval)}.`);
  }

  /** @param {ApprovalCard} card */
  #place(card) {
    const list = card.pending ? this.queue : this.settled;
    if (card.element.parentElement === list) return;
    if (list === this.settled) {
      list.prepend(card.element);
      return;
    }
    const later = this.#waitingCards.find(
      (other) => other.approval.deadline > card.approval.deadline,
    );
    list.insertBefore(card.element, later?.element ?? null);
  }

  #tick() {
    for (const card of this.#waitingCards) {
      card.tick();
      this.#place(card);
    }
    this.#sum();
  }

  #sum() {
    const waiting = this.queue.children.length;
    const words =
      waiting === 0 ? "No call is waiting." : `${counted(waiting, "call")} waiting for a person.`;
    if (this.waiting.textContent !== words) fill(this.waiting, words);
    this.settledPart.hidden = this.settled.children.length === 0;
    if (waiting > 0) fill(this.empty);
    else if (!this.empty.hasChildNodes()) {
      fill(
        this.empty,
        nothing(
          "approvals",
          "All done",
          "Calls that need a person's decision appear here.",
        ),
      );
    }
  }

  /**
   * @param {ApprovalCard} card
   * @param {"approve" | "deny"} verdict
   * @param {string} note
   */
  async #decide(card, verdict, note) {
    const { id } = card.approval;
    const next = this.#neighbour(card, 1) ?? this.#neighbour(card, -1);
    card.element.classList.add("sending");
    try {
      const now = await send(
        "post",
        "/api/approvals/{approval}/{verdict}",
        { approval: id, verdict },
        { note },
      );
      card.show(now);
      if (now.note !== note) card.showNotice("Another reviewer had given the same answer already.");
      toast(
        verdict === "approve" ? "Approved: the agent may make this call once." : "Denied.",
        "good",
      );
    } catch (error) {
      await this.#refused(card, error);
    } finally {
      card.element.classList.remove("sending");
    }
    this.#place(card);
    this.#sum();
    (next ?? card).element.focus();
  }

  /**
   * @param {ApprovalCard} card
   * @param {unknown} error
   */
  async #refused(card, error) {
    const words = wordsOf(error);
    if (error instanceof ApiError && error.status === 409) {
      const { id } = card.approval;
      const now = await get("/api/approvals/{approval}", { approval: id }).catch(
        () => card.approval,
      );
      card.show(now);
      card.showNotice(`Your answer came too late. ${words}`);
      toast("Another reviewer was faster.", "bad");
    } else {
      card.show(card.approval);
      card.showNotice(words);
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select"))
      return;
    const card = this.#focused();
    if (event.key === "j" || event.key === "k") this.#step(card, event.key === "j" ? 1 : -1);
    else if (event.key === "a" && card !== undefined) card.ask("approve");
    else if (event.key === "d" && card !== undefined) card.ask("deny");
    else return;
    event.preventDefault();
  }

  #focused() {
    const element = document.activeElement?.closest(".approval");
    return element instanceof HTMLElement ? this.cards.get(element.dataset.id ?? "") : undefined;
  }

  /**
   * @param {ApprovalCard | undefined} card
   * @param {number} by
   */
  #step(card, by) {
    const to = card === undefined ? this.#waitingCards[0] : this.#neighbour(card, by);
    to?.element.focus();
    to?.element.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {ApprovalCard} card
   * @param {number} by
   */
  #neighbour(card, by) {
    const cards = this.#waitingCards;
    const at = cards.indexOf(card);
    return at < 0 ? cards[0] : cards[at + by];
  }
}

/**
 * @param {string} key
 * @param {string} word
 */
function hint(key, word) {
  return h("span", {}, h("kbd", {}, key), ` ${word}`);
}
