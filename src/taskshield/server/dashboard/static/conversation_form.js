/** A conversation as a form: tools by name, messages one below the other. */

import { levelClass, levelTag } from "./badges.js";
import { fill, h, icon } from "./dom.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */
/** @typedef {import("./conversation.js").WireMessage} WireMessage */

const LEVELS = ["system", "user", "assistant", "tool"];

export class ConversationForm {
  /** @param {() => void} changed called when a person changed something */
  constructor(changed) {
    this.changed = changed;
    /** @type {Conversation} */
    this.conversation = { taskshield: 1, tools: [], messages: [] };
    this.tools = h("textarea", {
      rows: "3",
      spellcheck: "false",
      oninput: () => this.#readTools(),
    });
    this.messages = h("ol.form-messages");
    this.element = h(
      "div.form",
      {},
      h(
        "label.field",
        {},
        h("span", {}, "Tools, one per line: name and description"),
        this.tools,
      ),
      this.messages,
      h(
        "div.form-add",
        {},
        LEVELS.map((level) =>
          h(
            "button.button.small",
            { type: "button", onclick: () => this.#add(level) },
            icon("plus"),
            level,
          ),
        ),
      ),
    );
  }

  /** @param {Conversation} conversation */
  show(conversation) {
    this.conversation = structuredClone(conversation);
    this.tools.value = (conversation.tools ?? [])
      .map((tool) => `${tool.name} ${tool.description ?? ""}`.trim())
      .join("\n");
    this.#draw();
  }

  #readTools() {
    const known = new Map((this.conversation.tools ?? []).map((tool) => [tool.name, tool]));
    this.conversation.tools = this.tools.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => {
        const [name, ...words] = line.split(/\s+/);
        const described = words.length > 0 ? { description: words.join(" ") } : {};
        return { ...known.get(name), name, ...described };
      });
    this.changed();
  }

  #draw() {
    fill(
      this.messages,
      this.conversation.messages.map((message, index) => this.#row(message, index)),
    );
  }

  /**
   * @param {WireMessage} message
   * @param {number} index
   */
  #row(message, index) {
    const write = (/** @type {Partial<WireMessage>} */ change) => {
      Object.assign(message, change);
      this.changed();
    };
    const text = h("textarea", {
      rows: "1",
      value: message.text ?? "",
      "aria-label": `Text of message ${index}`,
      oninput: () => write({ text: text.value }),
    });
    return h(
      `li.form-message.${levelClass(message.level)}`,
      {},
      h(
        "div.form-head",
        {},
        h("span.number", {}, `#${index}`),
        levelTag(message.level),
        h("span.push"),
        h(
          "button.icon-button",
          {
            type: "button",
            "aria-label": `Remove message ${index}`,
            onclick: () => this.#remove(index),
          },
          icon("cross"),
        ),
      ),
      text,
      message.level === "assistant" && this.#calls(message, index),
      message.level === "tool" && this.#answers(message, index, write),
    );
  }

  /**
   * @param {WireMessage} message
   * @param {number} index
   */
  #calls(message, index) {
    const calls = message.tool_calls ?? [];
    return h(
      "div.form-calls",
      {},
      calls.map((call, place) => {
        const name = h("input", {
          value: call.name,
          "aria-label": `Tool of call ${place + 1} in message ${index}`,
          oninput: () => {
            call.name = name.value;
            this.changed();
          },
        });
        const given = h("input.mono", {
          value:
            typeof call.arguments === "string"
              ? call.arguments
              : JSON.stringify(call.arguments ?? {}),
          "aria-label": `Arguments of call ${place + 1} in message ${index}`,
          oninput: () => {
            call.arguments = parsed(given.value);
            this.changed();
          },
        });
        return h("div.form-call", {}, name, given);
      }),
      h(
        "button.button.small",
        {
          type: "button",
          onclick: () => {
            message.tool_calls = [
              ...calls,
              {
                id: this.#newId(),
                name: this.conversation.tools?.[0]?.name ?? "tool",
                arguments: {},
              },
            ];
            this.#draw();
            this.changed();
          },
        },
        icon("plus"),
        "call",
      ),
    );
  }

  /**
   * @param {WireMessage} message
   * @param {number} index
   * @param {(change: Partial<WireMessage>) => void} write
   */
  #answers(message, index, write) {
    const before = this.conversation.messages
      .slice(0, index)
      .flatMap((each) => each.tool_calls ?? []);
    const choice = h(
      "select",
      {
        "aria-label": `Call that message ${index} answers`,
        onchange: () => write({ answers: choice.value }),
      },
      before.map((call) =>
        h(
          "option",
          { value: call.id, selected: call.id === message.answers },
          `answers ${call.name} (${call.id})`,
        ),
      ),
    );
    return before.length > 0 && choice;
  }

  /** @param {string} level */
  #add(level) {
    const { messages } = this.conversation;
    const calls = messages.flatMap((message) => message.tool_calls ?? []);
    const answered = new Set(messages.map((message) => message.answers));
    const open = calls.find((call) => !answered.has(call.id)) ?? calls.at(-1);
    /** @type {WireMessage} */
    const message = { level, text: "" };
    if (level === "tool" && open !== undefined) message.answers = open.id;
    if (level === "assistant") {
      message.tool_calls = [
        { id: this.#newId(), name: this.conversation.tools?.[0]?.name ?? "tool", arguments: {} },
      ];
    }
    messages.push(message);
    this.#draw();
    this.changed();
    this.messages.lastElementChild?.querySelector("textarea")?.focus();
  }

  /** @param {number} index */
  #remove(index) {
    this.conversation.messages.splice(index, 1);
    this.#draw();
    this.changed();
  }

  #newId() {
    const used = new Set(
      this.conversation.messages
        .flatMap((message) => message.tool_calls ?? [])
        .map((call) => call.id),
    );
    let number = used.size + 1;
    while (used.has(`c${number}`)) number += 1;
    return `c${number}`;
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
