/** Conversations in the playground. */

/**
 * @typedef {{id: string, name: string, arguments: unknown}} WireCall
 * @typedef {{name: string, description?: string, [more: string]: unknown}} WireTool
 *
 * @typedef {object} WireMessage
 * @property {string} level
 * @property {string} [text]
 * @property {WireCall[]} [tool_calls]
 * @property {string} [answers]
 *
 * @typedef {{taskshield: 1, tools: WireTool[], messages: WireMessage[]}} Conversation
 */

/** A conversation to begin with. */
export const EMPTY = /** @type {Conversation} */ ({
  taskshield: 1,
  tools: [{ name: "read_mail" }, { name: "send_mail" }],
  messages: [{ level: "user", text: "Summarise my newest e-mail." }],
});

/**
 * Whether a conversation is in our own format, which the form can show.
 *
 * @param {any} value
 * @returns {value is Conversation}
 */
export function isOwn(value) {
  return (
    value !== null &&
    typeof value === "object" &&
    value.taskshield === 1 &&
    Array.isArray(value.messages) &&
    value.messages.every(
      (/** @type {any} */ message) =>
        typeof message?.level === "string" && message.parts === undefined,
    )
  );
}

/**
 * The same as a request for Azure's Task Adherence; null where the format is neither
 * ours nor OpenAI's.
 *
 * @param {any} conversation
 */
export function azureBody(conversation) {
  if (isOwn(conversation)) return fromOwn(conversation);
  const messages = conversation?.messages;
  if (!Array.isArray(messages)) return null;
  if (messages.every((message) => message?.contents !== undefined)) return conversation;
  if (!messages.every((message) => typeof message?.role === "string")) return null;
  return conversation.system === undefined ? fromOpenAi(conversation) : null;
}

/** @param {Conversation} conversation */
function fromOwn(conversation) {
  return {
    tools: (conversation.tools ?? []).map((tool) => ({
      type: "function",
      function: { name: tool.name, description: tool.description ?? "" },
    })),
    messages: conversation.messages.map((message) =>
      azureMessage(
        message.level,
        message.text ?? "",
        message.answers,
        (message.tool_calls ?? []).map(({ id, name, arguments: given }) => ({
          type: "function",
          function: {
            name,
            arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
          },
          id,
        })),
      ),
    ),
  };
}

/** @param {any} conversation */
function fromOpenAi(conversation) {
  return {
    tools: (conversation.tools ?? []).map((/** @type {any} */ tool) => ({
      type: "function",
      function: { name: tool.function?.name, description: tool.function?.description ?? "" },
    })),
    messages: conversation.messages.map((/** @type {any} */ message) =>
      azureMessage(
        message.role,
        message.content ?? "",
        message.tool_call_id,
        message.tool_calls ?? [],
      ),
    ),
  };
}

/**
 * @param {string} role
 * @param {unknown} contents
 * @param {string | undefined} answers
 * @param {unknown[]} calls
 */
function azureMessage(role, contents, answers, calls) {
  return {
    source: role === "user" || role === "system" ? "Prompt" : "Completion",
    role: role.charAt(0).toUpperCase() + role.slice(1),
    contents: contents === "" ? "(a call)" : contents,
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(answers !== undefined && { toolCallId: answers }),
  };
}
