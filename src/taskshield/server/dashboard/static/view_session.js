/** Session: all messages, what was found in them, and where values come from. */

import { get } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { counted } from "./format.js";
import { labelButton } from "./labels.js";
import { matrix, taskList } from "./matrix.js";
import { failure, nothing } from "./notices.js";
import { Pages, whenNear } from "./paging.js";
import { sessionLink } from "./routes.js";
import { on } from "./stream.js";
import { Timeline } from "./timeline.js";
import { said } from "./visible.js";

const AT_ONCE = 50;

export class SessionView {
  title = "Session";
  section = "live";

  /** @param {string[]} words of the route: the session's id, and the number of a message */
  constructor([id, number]) {
    this.id = id;
    this.wanted = number === undefined ? null : Number(number);
    this.timeline = new Timeline({ actions: labelButton });
    this.facts = h("p.quiet.facts", {}, "\u00a0");
    this.tasks = h("div");
    this.matrix = h("div.matrix-scroll", { tabindex: "0", role: "region", "aria-label": "Scores" });
    this.end = h("div.list-end");
    this.pages = this.#pages(undefined);
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
        h("a.back", { href: "#/live" }, icon("back"), "Live"),
        said(this.id, "h1.mono.session-id"),
        this.facts,
      ),
      h(
        "div.session",
        {},
        h(
          "aside",
          { "aria-label": "Tasks and scores" },
          h("section.panel", {}, h("h2", {}, "The user's tasks"), this.tasks),
          h("section.panel", {}, h("h2", {}, "Instruction × task"), this.matrix),
        ),
        h("div.timeline-column", {}, this.timeline.element, this.end),
      ),
    );
    this.endings.push(
      whenNear(this.end, () => this.#more()),
      on("decision", (event) => event.session === this.id && this.#loadNew()),
      on("reset", () => this.#loadNew()),
    );
    this.#more();
  }

  stop() {
    this.timeline.stop();
    for (const end of this.endings) end();
  }

  /**
   * Another route of the same session, which this view can show.
   *
   * @param {string[]} words
   */
  accepts([id, number]) {
    if (id !== this.id) return false;
    this.wanted = number === undefined ? null : Number(number);
    this.#reach();
    return true;
  }

  /** @param {number | undefined} after */
  #pages(after) {
    const pages = new Pages("/api/sessions/{session}/timeline", {
      session: this.id,
      limit: AT_ONCE,
    });
    pages.next = after;
    return pages;
  }

  async #more() {
    if (this.pages.done || this.pages.underWay !== null) return;
    fill(this.end, h("p.quiet", {}, "Loading …"));
    try {
      const page = await this.pages.more();
      this.timeline.add(page.items);
      this.#sum(page.tasks);
    } catch (error) {
      fill(
        this.end,
        failure(error, () => this.#more()),
      );
      return;
    }
    fill(this.end, this.#ending());
    this.#reach();
    if (!this.pages.done && this.end.getBoundingClientRect().top < 2 * innerHeight) this.#more();
  }

  #ending() {
    if (!this.pages.done) return null;
    if (this.timeline.cards.size > 0) return h("p.quiet", {}, "No more messages.");
    return nothing("live", "Nothing yet", "This session has no messages yet.");
  }

  /** @param {import("./api_types.js").Task[]} tasks */
  async #sum(tasks) {
    const items = this.timeline.items;
    fill(this.tasks, taskList(tasks, items));
    fill(
      this.matrix,
      matrix(items, tasks, (number) => sessionLink(this.id, number)),
    );
    const asked = items.filter((item) => item.decision.action === "escalate").length;
    const { messages } = await get("/api/sessions/{session}", {
      session: this.id,
    });
    const origins = items.flatMap((item) => [item.agent, item.surface]);
    const facts = [
      ...new Set(origins.filter((name) => name !== null)),
      counted(messages, "message"),
      items.length < messages && `${items.length} shown`,
      asked > 0 && `${asked} asked`,
    ].filter((fact) => typeof fact === "string");
    fill(this.facts, said(facts.join(" · ")));
  }

  /** Load the messages after those that are shown. */
  #loadNew() {
    if (!this.pages.done) return;
    const last = Math.max(-1, ...this.timeline.cards.keys());
    this.pages = this.#pages(last < 0 ? undefined : last);
    this.#more();
  }

  /** Go to the message that the route names; load the messages before it. */
  #reach() {
    if (this.wanted === null) return;
    const card = this.timeline.cards.get(this.wanted);
    if (card === undefined) {
      this.#more();
      return;
    }
    this.wanted = null;
    card.element.scrollIntoView({ block: "center" });
    card.element.classList.add("arrived");
    card.element.tabIndex = -1;
    card.element.focus({ preventScroll: true });
  }
}
