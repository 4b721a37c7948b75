/**
 * Requests to the server. Nothing else in the page calls fetch.
 */

/**
 * Who is here.
 *
 * @typedef {object} Me
 * @property {"needed" | "done"} login
 * @property {boolean} [link] whether the link that the server printed logs a person in
 * @property {string[]} scopes
 * @property {string} tenant
 * @property {string[]} judges that the playground has
 * @property {string} version
 */

/** A request that failed. */
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

/**
 * Where the token is kept that shows that this page sent a request. Unlike the cookie, it is never
 * sent to servers on other ports of this machine, and their pages cannot read it.
 */
const CSRF = "taskshield-csrf";

/** @type {Set<string>} */
let scopes = new Set();

/** Called when the login has ended. */
let onLoggedOut = () => {};

/** @param {() => void} listener */
export function whenLoggedOut(listener) {
  onLoggedOut = listener;
}

/** @returns {Promise<Me>} */
export async function me() {
  const known = await ask("GET", "/page/me");
  if (known.login === "done" && token() === null) known.login = "needed";
  scopes = new Set(known.scopes);
  return known;
}

/**
 * Whether the person's key has a scope. The server decides; this only hides what would be refused.
 *
 * @param {string} scope
 */
export function may(scope) {
  return scopes.has(scope) || scopes.has("admin");
}

/** @param {{key: string} | {token: string}} proof a key, or the token of the server's link */
export async function login(proof) {
  const { csrf } = await ask("POST", "/page/login", proof);
  localStorage.setItem(CSRF, csrf);
}

export async function logout() {
  await ask("POST", "/page/logout");
  localStorage.removeItem(CSRF);
}

function token() {
  return localStorage.getItem(CSRF);
}

/**
 * Read from the native API.
 *
 * @template {import("./api_types.js").PathWith<"get">} P
 * @param {P} path as in the OpenAPI document
 * @param {import("./api_types.js").Given<"get", P>} parameters of the path and the query
 * @returns {Promise<import("./api_types.js").Answer<"get", P>>}
 */
export function get(path, parameters) {
  return ask("GET", address(path, parameters));
}

/**
 * Change something through the native API.
 *
 * @template {"post" | "put" | "delete"} M
 * @template {import("./api_types.js").PathWith<M>} P
 * @param {M} method
 * @param {P} path as in the OpenAPI document
 * @param {import("./api_types.js").Given<M, P>} parameters of the path and the query
 * @param {import("./api_types.js").Body<M, P>} body
 * @returns {Promise<import("./api_types.js").Answer<M, P>>}
 */
export function send(method, path, parameters, body) {
  return ask(method.toUpperCase(), address(path, parameters), body);
}

/**
 * Whether the server is ready, and if not, why. It answers 503 when it is not.
 *
 * @returns {Promise<{ready: boolean, reasons: string[]}>}
 */
export async function readiness() {
  const answer = await fetched("/readyz", {});
  const body = await answer.json().catch(() => ({}));
  return { ready: answer.ok, reasons: body.reasons ?? [] };
}

/**
 * A path with its parameters filled in; the others become the query. What is null is left out.
 *
 * @param {string} path
 * @param {Record<string, unknown>} parameters
 */
export function address(path, parameters) {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) continue;
    const place = `{${name}}`;
    if (path.includes(place)) filled = filled.replace(place, encodeURIComponent(String(value)));
    else query.append(name, String(value));
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
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
  const csrf = token();
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
  const error = body?.error;
  return new ApiError(
    answer.status,
    error?.code ?? "unknown",
    error?.message ?? `The server answered ${answer.status}.`,
  );
}
