/** The frame of the page: the person, the view that is shown, and links to the others. */

import { get, login, logout, me, whenLoggedOut } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { failure, toast, wordsOf } from "./notices.js";
import { isLink, tokenOfLink, wordsOfFragment } from "./routes.js";
import { connect, connected, disconnect, on } from "./stream.js";
import { applyTheme, themeButton } from "./theme.js";
import { LiveView } from "./view_live.js";
import { said } from "./visible.js";

/** @typedef {import("./routes.js").View} View */
/** @typedef {import("./api.js").Me} Me */

/**
 * The views; all but the first are loaded when they are needed.
 *
 * @type {Record<string, (words: string[], known: Me) => View | Promise<View>>}
 */
const VIEWS = {
  live: () => new LiveView(),
  sessions: async (words) => {
    if (words.length === 0) return new LiveView();
    return new (await import("./view_session.js")).SessionView(words);
  },
  approvals: async () => new (await import("./view_approvals.js")).ApprovalsView(),
  playground: async (words, { judges }) =>
    new (await import("./view_playground.js")).PlaygroundView(words, judges),
  health: async () => new (await import("./view_health.js")).HealthView(),
  benchmarks: async () => new (await import("./view_benchmarks.js")).BenchmarksView(),
};

const SECTIONS = [
  ["live", "Live"],
  ["approvals", "Approvals"],
  ["playground", "Playground"],
  ["health", "Health"],
  ["benchmarks", "Benchmarks"],
];

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
const main = h("main", { id: "main", tabindex: "-1" });

/** @type {Me | null} */
let known = null;
/** @type {View | null} */
let shown = null;
/** @type {(() => void)[]} called when the frame is removed */
let endings = [];
let routes = 0;

async function start() {
  const token = tokenOfLink();
  let problem = "";
  try {
    known = await me();
    if (token !== null && known.login === "needed") {
      problem = await loginWithLink(token);
      known = await me();
    }
  } catch (error) {
    fill(app, h("main", { id: "main" }, failure(error, start)));
    return;
  }
  if (known.login === "needed") {
    leave();
    const { showLogin } = await import("./view_login.js");
    showLogin(app, start, { link: known.link ?? false, problem });
    return;
  }
  for (const end of endings) end();
  endings = [];
  fill(app, frame(known), main);
  connect();
  route();
}

/**
 * Why the link does not log this person in; empty where it does.
 *
 * @param {string} token
 */
async function loginWithLink(token) {
  try {
    await login({ token });
    return "";
  } catch (error) {
    return wordsOf(error);
  }
}

/** @param {Me} person */
function frame(person) {
  return h(
    "header.frame",
    {},
    h("a.brand", { href: "#/live" }, icon("shield"), h("span", {}, "taskshield")),
    h(
      "nav",
      { "aria-label": "Views" },
      SECTIONS.map(([section, title]) =>
        h(
          "a",
          { href: `#/${section}`, "data-section": section },
          icon(section),
          h("span", {}, title),
          section === "approvals" && waitingCount(),
        ),
      ),
    ),
    h(
      "div.frame-end",
      {},
      connection(),
      said(person.tenant, "span.tenant.quiet", { title: "tenant" }),
      themeButton(),
      h(
        "button.icon-button",
        { type: "button", "aria-label": "Log out", title: "Log out", onclick: goodbye },
        icon("leave"),
      ),
    ),
  );
}

/** Whether events arrive. */
function connection() {
  const place = h("span.connection", { role: "status" });
  const show = () => {
    place.classList.toggle("on", connected());
    fill(place, h("span.dot"), h("span.connection-word", {}, connected() ? "live" : "offline"));
  };
  endings.push(on("connection", show));
  show();
  return place;
}

/** How many approvals wait, beside the name of their view. */
function waitingCount() {
  const place = h("span.waiting-count", { hidden: true });
  const show = async () => {
    const page = await get("/api/approvals", { status: "pending", limit: 100 }).catch(() => null);
    if (page === null) return;
    place.hidden = page.items.length === 0;
    fill(
      place,
      `${page.items.length}${page.next === null ? "" : "+"}`,
      h("span.sr-only", {}, " waiting"),
    );
  };
  endings.push(on("approval", show), on("reset", show));
  show();
  return place;
}

async function route() {
  if (known === null || !(location.hash === "" || location.hash.startsWith("#/"))) return;
  const [name = "live", ...words] = wordsOfFragment(location.hash);
  if (shown !== null && name === "sessions" && shown.accepts?.(words)) return;
  const asked = ++routes;
  const view = await (VIEWS[name] ?? VIEWS.live)(words, known);
  if (asked !== routes) return; // the person has gone to another view
  leave();
  shown = view;
  document.title = `${view.title} · taskshield`;
  for (const link of app.querySelectorAll("nav a")) {
    const here = /** @type {HTMLElement} */ (link).dataset.section === view.section;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.className = `view-${view.section}`;
  view.show(main);
  scrollTo(0, 0);
}

/** Remove everything of a view: another person may use the page next. */
function leave() {
  shown?.stop();
  shown = null;
  fill(main);
}

async function goodbye() {
  disconnect();
  await logout().catch(() => toast("Logging out failed: the server could not be reached.", "bad"));
  start();
}

applyTheme();
addEventListener("hashchange", () => (isLink() ? start() : route()));
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main")?.focus();
});
whenLoggedOut(() => {
  if (known?.login !== "done") return;
  known = null;
  disconnect();
  toast("Your login has ended.", "bad");
  start();
});
// A browser may load a page before the person opens it. That must not use up the link.
if (Reflect.get(document, "prerendering"))
  document.addEventListener("prerenderingchange", start, { once: true });
else start();
