/**
 * What the page asks the server. Nothing else in the page calls fetch.
 */

/**
 * Who is here.
 *
 * @typedef {object} Me
 * @property {"none" | "needed" | "done"} login none: no key is needed
 * @property {string[]} scopes
 * @property {string} tenant
 * @property {string | null} csrf
 * @property {string[]} judges that the playground has
 * @property {string} version
 */

/** An answer that is not what was asked for. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 where there was no answer at all
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @type {string | null} */
let csrf = null;

/** @type {Set<string>} */
let scopes = new Set();

/** Called when the server no longer knows who we are. */
let onLoggedOut = () => {};

/** @param {() => void} listener */
export function whenLoggedOut(listener) {
  onLoggedOut = listener;
}

/** @returns {Promise<Me>} */
export async function me() {
  const known = await ask("GET", "/page/me");
  csrf = known.csrf;
  scopes = new Set(known.scopes);
  return known;
}

/**
 * Whether the person's key has a scope; the server decides, this only saves people from asking.
 *
 * @param {string} scope
 */
export function may(scope) {
  return scopes.has(scope) || scopes.has("admin");
}

/** @param {string} key */
export function login(key) {
  return ask("POST", "/page/login", { key });
}

export async function logout() {
  await ask("POST", "/page/logout");
  csrf = null;
}

/**
 * @param {string} path below /api
 * @param {Record<string, string | number | null | undefined>} [query] what is null is left out
 * @returns {Promise<any>}
 */
export function get(path, query = {}) {
  return ask("GET", address(path, query));
}

/**
 * @param {"POST" | "PUT" | "DELETE"} method
 * @param {string} path below /api
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export function send(method, path, body) {
  return ask(method, address(path, {}), body);
}

/**
 * Whether the server says that it works, and if not, why. It answers 503 when it does not.
 *
 * @returns {Promise<{ready: boolean, reasons: string[]}>}
 */
export async function readiness() {
  const answer = await fetched("/readyz", {});
  const body = await answer.json().catch(() => ({}));
  return { ready: answer.ok, reasons: body.reasons ?? [] };
}

/**
 * @param {string} path
 * @param {Record<string, string | number | null | undefined>} query
 */
export function address(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const words = new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
  return `/api${path}${given.length > 0 ? `?${words}` : ""}`;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function ask(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (method !== "GET" && csrf !== null) headers["x-taskshield-csrf"] = csrf;
  const answer = await fetched(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  const error = await problem(answer);
  if (answer.status === 401 && path !== "/page/login") onLoggedOut();
  throw error;
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function fetched(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new ApiError(0, "unreachable", "The server cannot be reached.");
  }
}

/** @param {Response} answer */
async function problem(answer) {
  const body = await answer.json().catch(() => null);
  const told = body?.error;
  return new ApiError(
    answer.status,
    told?.code ?? "unknown",
    told?.message ?? `The server answered ${answer.status}.`,
  );
}
