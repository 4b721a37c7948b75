/** Small labels: the action on a message, who speaks, the risk of a tool, the origin of a value. */

import { h, icon } from "./dom.js";
import { said } from "./visible.js";

/** @type {Record<string, {tone: string, icon: string, word: string, meaning: string}>} */
const ACTIONS = {
  allow: { tone: "good", icon: "check", word: "Allowed", meaning: "delivered as it is" },
  observe: {
    tone: "plain",
    icon: "eye",
    word: "Observed",
    meaning: "delivered, though misaligned",
  },
  annotate: {
    tone: "warn",
    icon: "note",
    word: "Annotated",
    meaning: "delivered, followed by a warning",
  },
  redact: {
    tone: "warn",
    icon: "note",
    word: "Redacted",
    meaning: "delivered without its misaligned parts",
  },
  withhold: {
    tone: "warn",
    icon: "pause",
    word: "Withheld",
    meaning: "replaced by a note",
  },
  revise: {
    tone: "bad",
    icon: "retry",
    word: "Sent back",
    meaning: "not executed; the agent may try again",
  },
  escalate: {
    tone: "ask",
    icon: "hand",
    word: "Asked",
    meaning: "not executed until a person approves",
  },
  block: { tone: "bad", icon: "cross", word: "Blocked", meaning: "not executed" },
  failed: { tone: "bad", icon: "hand", word: "Not checked", meaning: "the judge gave no verdict" },
};

/** @type {Record<string, {tone: string, word: string, meaning: string}>} */
const ORIGINS = {
  user: { tone: "good", word: "user", meaning: "in the user's own words" },
  data: { tone: "plain", word: "data", meaning: "in what a tool returned" },
  directive: { tone: "bad", word: "injected", meaning: "only in an instruction inside tool output" },
  assistant: { tone: "plain", word: "agent", meaning: "in what the agent wrote" },
  new: { tone: "warn", word: "new", meaning: "nowhere in the conversation" },
};

/** Actions that block. */
export const BLOCKING = new Set(["revise", "escalate", "block"]);

/**
 * The action on a message.
 *
 * @param {string} action
 */
export function actionBadge(action) {
  const known = ACTIONS[action];
  if (known === undefined) return said(action, "span.badge.plain");
  return h(`span.badge.${known.tone}`, { title: known.meaning }, icon(known.icon), known.word);
}

/**
 * The class of a level; that of an unknown one is "other".
 *
 * @param {string} level
 */
export function levelClass(level) {
  return ["system", "user", "assistant", "tool"].includes(level) ? level : "other";
}

/** @param {string} level */
export function levelTag(level) {
  return said(level, `span.level.${levelClass(level)}`);
}

/** @param {string | null} tier */
export function tierTag(tier) {
  if (tier === null) return null;
  return said(tier, `span.tag${tier === "read" ? "" : ".risky"}`, {
    title: "what the tool can do",
  });
}

/** @type {Record<string, string>} */
const AUTHORISATIONS = {
  asked: "the user asked for it",
  implied: "the user's words need it",
  unasked: "no task of the user needs it",
  contradicted: "the user's or the operator's words rule it out",
};

/**
 * How far the user's words carry something.
 *
 * @param {string | null} authorisation
 */
export function authorisationTag(authorisation) {
  if (authorisation === null) return null;
  const weak = ["unasked", "contradicted"].includes(authorisation);
  return said(authorisation, `span.tag${weak ? ".risky" : ""}`, {
    title: AUTHORISATIONS[authorisation] ?? null,
  });
}

/** @param {string} origin */
export function originTag(origin) {
  const known = ORIGINS[origin];
  if (known === undefined) return said(origin, "span.badge.plain");
  return h(`span.badge.small.${known.tone}`, { title: known.meaning }, known.word);
}

/** @param {string} origin */
export function originTone(origin) {
  return ORIGINS[origin]?.tone ?? "plain";
}
