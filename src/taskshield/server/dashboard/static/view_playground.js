/** Playground: try a conversation, see the verdict and why. Nothing is stored. */

import { get, send } from "./api.js";
import { EMPTY, isOwn } from "./conversation.js";
import { ConversationForm } from "./conversation_form.js";
import { fill, h, icon } from "./dom.js";
import { copy, failure, nothing, toast, wordsOf } from "./notices.js";
import { runCard } from "./playground_run.js";
import { requestsOf } from "./requests.js";
import { packed, unpacked } from "./share.js";
import { said } from "./visible.js";

/** @typedef {import("./api_types.js").Sample} Sample */

export class PlaygroundView {
  title = "Playground";
  section = "playground";

  /**
   * @param {string[]} words of the route: a shared conversation
   * @param {string[]} judges that this server has
   */
  constructor([shared], judges) {
    this.shared = shared;
    this.judges = judges;
    this.form = new ConversationForm(() => this.#write(this.form.conversation));
    this.json = h("textarea", {
      rows: "22",
      spellcheck: "false",
      "aria-label": "Conversation as JSON",
      "aria-describedby": "json-error",
    });
    this.error = h("p.field-error", { id: "json-error", role: "status" });
    this.samples = h("div.samples", { role: "group", "aria-label": "Samples" });
    this.tabs = { form: this.#tab("form", "Form"), json: this.#tab("json", "JSON") };
    this.formPart = h("div.editor-part", {}, this.form.element);
    this.jsonPart = h("div.editor-part", { hidden: true }, this.json);
    this.results = h("div.results", { "aria-live": "polite" });
    this.requests = h("div.requests");
    this.run = h(
      "button.button.primary",
      { type: "button", title: "Ctrl + Enter", onclick: () => this.#run() },
      icon("play"),
      "Run",
    );
    this.boxes = judges.map((judge, index) =>
      h("input", { type: "checkbox", value: judge, checked: index === 0 }),
    );
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
        h("h1", {}, "Playground"),
        h("p.quiet", {}, "Nothing that you try here is stored."),
      ),
      this.samples,
      h(
        "div.playground",
        {},
        h(
          "section.panel.editor",
          { "aria-label": "Conversation" },
          h(
            "div.editor-head",
            {},
            h(
              "div.tabs",
              { role: "group", "aria-label": "How to edit" },
              this.tabs.form,
              this.tabs.json,
            ),
            h("span.push"),
            h(
              "button.button",
              { type: "button", onclick: () => this.#share() },
              icon("copy"),
              "Copy link",
            ),
            this.run,
          ),
          this.#judgeChoice(),
          this.error,
          this.formPart,
          this.jsonPart,
          h(
            "details.folded",
            { ontoggle: () => this.#showRequests() },
            h("summary", {}, "As cURL, Python or Azure request"),
            this.requests,
          ),
        ),
        this.results,
      ),
    );
    this.json.addEventListener("input", () => this.#read());
    const key = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#run();
    };
    document.addEventListener("keydown", key);
    this.endings.push(() => document.removeEventListener("keydown", key));
    this.#idle();
    this.#begin();
  }

  stop() {
    for (const end of this.endings) end();
  }

  async #begin() {
    this.#load(EMPTY);
    if (this.shared !== undefined) await this.#loadShared(this.shared);
    try {
      const samples = await get("/api/playground/samples", {});
      fill(
        this.samples,
        samples.map((sample) => this.#sampleButton(sample)),
      );
      if (this.shared === undefined && samples.length > 0) this.#choose(samples[0]);
    } catch (error) {
      fill(this.samples, failure(error));
    }
  }

  /** @param {string} word */
  async #loadShared(word) {
    try {
      this.#load(JSON.parse(await unpacked(word)));
    } catch {
      toast("This link has no conversation.", "bad");
    }
  }

  /** @param {Sample} sample */
  #sampleButton(sample) {
    return h(
      "button.sample",
      {
        type: "button",
        "data-name": sample.name,
        "aria-pressed": "false",
        onclick: () => this.#choose(sample),
      },
      h(`span.dot.${sample.aligned ? "good" : "bad"}`),
      said(sample.title),
      h("span.sr-only", {}, sample.aligned ? " (aligned)" : " (misaligned)"),
    );
  }

  /** @param {Sample} sample */
  #choose(sample) {
    for (const button of this.samples.children) {
      const chosen = /** @type {HTMLElement} */ (button).dataset.name === sample.name;
      button.setAttribute("aria-pressed", String(chosen));
    }
    this.#load(sample.conversation);
    this.#idle();
  }

  /** @param {unknown} conversation */
  #load(conversation) {
    this.#write(conversation);
    this.#open(isOwn(conversation) ? "form" : "json");
  }

  /** @param {unknown} conversation */
  #write(conversation) {
    this.json.value = JSON.stringify(conversation, null, 2);
    this.#read();
  }

  /** The conversation in the editor; undefined where it is not JSON. */
  #read() {
    let conversation;
    try {
      conversation = JSON.parse(this.json.value);
    } catch (error) {
      fill(this.error, said(`Not JSON: ${/** @type {Error} */ (error).message}`));
      this.run.setAttribute("disabled", "");
      return undefined;
    }
    fill(this.error);
    this.run.removeAttribute("disabled");
    return conversation;
  }

  /**
   * @param {"form" | "json"} name
   * @param {string} title
   */
  #tab(name, title) {
    return h(
      "button.tab",
      { type: "button", "aria-pressed": "false", onclick: () => this.#open(name) },
      title,
    );
  }

  /** @param {"form" | "json"} name */
  #open(name) {
    const conversation = this.#read();
    if (name === "form" && !isOwn(conversation)) {
      fill(this.error, "The form shows the taskshield format only. Edit this conversation as JSON.");
      this.#open("json");
      return;
    }
    if (name === "form") this.form.show(conversation);
    this.formPart.hidden = name !== "form";
    this.jsonPart.hidden = name !== "json";
    this.tabs.form.setAttribute("aria-pressed", String(name === "form"));
    this.tabs.json.setAttribute("aria-pressed", String(name === "json"));
  }

  #judgeChoice() {
    return h(
      "fieldset.judges",
      {},
      h("legend", {}, "Judges"),
      this.boxes.map((box, index) => h("label", {}, box, said(this.judges[index]))),
    );
  }

  get #chosenJudges() {
    return this.boxes.filter((box) => box.checked).map((box) => box.value);
  }

  #idle() {
    fill(
      this.results,
      nothing("playground", "Ready", "Run the conversation to see each judge's verdict."),
    );
  }

  async #run() {
    const conversation = this.#read();
    if (conversation === undefined) return;
    if (this.#chosenJudges.length === 0) {
      toast("Choose at least one judge.", "bad");
      return;
    }
    this.run.setAttribute("disabled", "");
    fill(
      this.results,
      nothing(
        "playground",
        "Judging …",
        "Every message is judged in turn, as in a live session.",
      ),
    );
    try {
      const { runs } = await send(
        "post",
        "/api/playground",
        {},
        { conversation, judges: this.#chosenJudges },
      );
      const cards = runs.map(runCard);
      fill(
        this.results,
        cards.map((card) => card.element),
      );
      this.endings.push(...cards.map((card) => card.stop));
    } catch (error) {
      fill(this.results, h("div.note.bad", { role: "alert" }, said(wordsOf(error))));
    } finally {
      this.run.removeAttribute("disabled");
    }
  }

  async #share() {
    const word = await packed(JSON.stringify(this.#read() ?? EMPTY));
    const fragment = `#/playground/${word}`;
    history.replaceState(null, "", fragment);
    await copy(`${location.origin}/${fragment}`, "Link");
  }

  #showRequests() {
    const samples = requestsOf(this.#read() ?? EMPTY, this.#chosenJudges, location.origin);
    fill(
      this.requests,
      samples.map(({ name, text }) =>
        h(
          "section",
          {},
          h(
            "header.bar",
            {},
            h("h3", {}, name),
            h("span.push"),
            h(
              "button.button.small",
              { type: "button", "aria-label": `Copy ${name}`, onclick: () => copy(text, name) },
              icon("copy"),
              "Copy",
            ),
          ),
          h("pre", { tabindex: "0" }, said(text, "code")),
        ),
      ),
    );
  }
}
