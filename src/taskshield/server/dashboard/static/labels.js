/** Labels: people mark decisions as right or wrong. */

import { may, send } from "./api.js";
import { h } from "./dom.js";
import { toast, wordsOf } from "./notices.js";

/**
 * @param {string} decision
 * @param {"wrong" | "right"} label
 * @param {string} [note]
 */
export function setLabel(decision, label, note = "") {
  return send("put", "/api/decisions/{decision}/label", { decision }, { label, note });
}

/** @param {string} decision */
export function removeLabel(decision) {
  return send("delete", "/api/decisions/{decision}/label", { decision }, undefined);
}

/**
 * A button that marks a decision as wrong, or removes the mark. Only with the scope approve.
 *
 * @param {{decision: {id: string}, label: import("./api_types.js").Label | null}} item
 */
export function labelButton({ decision, label }) {
  if (!may("approve")) return null;
  const button = h("button.button.small.quiet-button", { type: "button" });
  const show = (/** @type {boolean} */ marked) => {
    button.setAttribute("aria-pressed", String(marked));
    button.textContent = marked ? "Marked as wrong" : "Mark as wrong";
  };
  show(label?.label === "wrong");
  button.addEventListener("click", async () => {
    const marked = button.getAttribute("aria-pressed") === "true";
    try {
      await (marked ? removeLabel(decision.id) : setLabel(decision.id, "wrong"));
    } catch (error) {
      toast(wordsOf(error), "bad");
      return;
    }
    show(!marked);
  });
  return button;
}
