/** Numbers, times and durations in words. */

const NUMBER = new Intl.NumberFormat("en");
const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const DAY = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** @param {number} value */
export function count(value) {
  return NUMBER.format(value);
}

/**
 * "1 session", "2 sessions".
 *
 * @param {number} value
 * @param {string} noun
 */
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** @param {number | null | undefined} milliseconds */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/**
 * A share as a percentage.
 *
 * @param {number} part
 * @param {number} whole
 */
export function share(part, whole) {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
}

/** @param {number} value a score between 0 and 1, or a sum of such */
export function score(value) {
  return value.toFixed(2);
}

/**
 * How long ago, roughly.
 *
 * @param {string} at
 * @param {number} [now]
 */
export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return DAY.format(new Date(at));
}

/**
 * How much time is left: "4:05".
 *
 * @param {number} milliseconds
 */
export function remaining(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 120) return `${Math.floor(minutes / 60)} h`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/** @param {string} at */
export function clock(at) {
  return CLOCK.format(new Date(at));
}

/** @param {string} at */
export function fullTime(at) {
  return FULL.format(new Date(at));
}
