/** Live events of the server: one connection for the whole page. */

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

/** Whether the connection is open. */
export function connected() {
  return source?.readyState === EventSource.OPEN;
}

/** Open the connection. The browser reconnects by itself. */
export function connect() {
  disconnect();
  source = new EventSource("/api/live");
  for (const kind of ["decision", "approval"]) {
    source.addEventListener(kind, (event) => emit(kind, JSON.parse(event.data)));
  }
  source.addEventListener("reset", () => emit("reset", null));
  source.addEventListener("open", () => emit("connection", null));
  source.addEventListener("error", () => emit("connection", null));
}

export function disconnect() {
  source?.close();
  source = null;
  emit("connection", null);
}

/**
 * Listen to one kind of event.
 *
 * @param {Kind} kind
 * @param {(data: any) => void} listener
 * @returns {() => void} ends it
 */
export function on(kind, listener) {
  const handler = (/** @type {Event} */ event) => listener(/** @type {CustomEvent} */ (event).detail);
  bus.addEventListener(kind, handler);
  return () => bus.removeEventListener(kind, handler);
}

/**
 * @param {string} kind
 * @param {unknown} detail
 */
function emit(kind, detail) {
  bus.dispatchEvent(new CustomEvent(kind, { detail }));
}
