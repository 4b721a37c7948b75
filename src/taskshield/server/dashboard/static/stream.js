/** What happens on the server, as it happens: one connection for the whole page. */

/**
 * @typedef {object} LiveDecision
 * @property {string} session
 * @property {string} surface
 * @property {string | null} agent
 * @property {number} number
 * @property {string} level
 * @property {string} action
 * @property {string} summary
 * @property {string} decision
 * @property {string} at
 */

/** @typedef {"decision" | "approval" | "reset" | "connection"} Kind */

const bus = new EventTarget();
/** @type {EventSource | null} */
let source = null;

/** Whether events arrive at the moment. */
export function connected() {
  return source?.readyState === EventSource.OPEN;
}

/** Begin to listen; the browser connects again by itself. */
export function connect() {
  disconnect();
  source = new EventSource("/api/live");
  for (const kind of ["decision", "approval"]) {
    source.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data)));
  }
  source.addEventListener("reset", () => tell("reset", null));
  source.addEventListener("open", () => tell("connection", null));
  source.addEventListener("error", () => tell("connection", null));
}

export function disconnect() {
  source?.close();
  source = null;
  tell("connection", null);
}

/**
 * Be told of one kind of event.
 *
 * @param {Kind} kind
 * @param {(data: any) => void} listener
 * @returns {() => void} ends it
 */
export function on(kind, listener) {
  const heard = (/** @type {Event} */ event) => listener(/** @type {CustomEvent} */ (event).detail);
  bus.addEventListener(kind, heard);
  return () => bus.removeEventListener(kind, heard);
}

/**
 * @param {string} kind
 * @param {unknown} detail
 */
function tell(kind, detail) {
  bus.dispatchEvent(new CustomEvent(kind, { detail }));
}
