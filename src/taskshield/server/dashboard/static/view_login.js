/** Login with a key of this server. The page sends it once and never stores it. */

import { login } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { wordsOf } from "./notices.js";
import { said } from "./visible.js";

/**
 * @param {HTMLElement} place
 * @param {() => void} entered called once the login succeeded
 */
export function showLogin(place, entered) {
  const key = h("input", {
    type: "password",
    name: "key",
    autocomplete: "current-password",
    placeholder: "tsk_…",
    required: true,
    spellcheck: "false",
    "aria-describedby": "login-error",
  });
  const error = h("p.field-error", { id: "login-error", role: "alert" });
  const button = h("button.button.primary", {}, "Log in");
  const form = h(
    "form.panel.login",
    {
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        button.setAttribute("disabled", "");
        try {
          await login(key.value.trim());
          key.value = "";
          entered();
        } catch (problem) {
          fill(error, said(wordsOf(problem)));
          key.focus();
        } finally {
          button.removeAttribute("disabled");
        }
      },
    },
    h("div.login-head", {}, icon("shield"), h("h1", {}, "taskshield")),
    h("label.field", {}, h("span", {}, "API key"), key),
    error,
    button,
    h("p.quiet", {}, "Make one with ", h("code", {}, "taskshield keys create"), "."),
  );
  fill(place, h("main.login-page", { id: "main", tabindex: "-1" }, form));
  key.focus();
}
