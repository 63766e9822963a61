/** Formats of numbers on the page. */

import { t } from "./locale.js";

export { count } from "./thousands.js";

/** Shown for a missing number. */
export const NONE = "–";

/** @param {number | null | undefined} value */
export function loss(value) {
  if (value === null || value === undefined) return NONE;
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return value.toFixed(4);
}

/** @param {number | null | undefined} fraction */
export function percent(fraction, digits = 2) {
  return typeof fraction === "number" ? `${(fraction * 100).toFixed(digits)}%` : NONE;
}

/** The strength of a player. @param {number | null | undefined} elo */
export const elo = (elo) =>
  typeof elo === "number" ? String(Math.round(elo)).replace("-", "−") : NONE;

/** A number on an axis. @param {number} value */
export const tick = (value) => String(Number(value.toPrecision(3)));

/** The time of a kernel: "12.3 µs", "1.5 ms". @param {number} seconds */
export const kernelTime = (seconds) =>
  seconds < 1e-3 ? `${tick(seconds * 1e6)} µs` : `${tick(seconds * 1e3)} ms`;

/** A number of a picture, with two digits. @param {number} value */
export const short = (value) => String(Number(value.toPrecision(2))).replace("-", "−");

/** A ratio: "0.43", "0.004". @param {number} value */
export const times = (value) =>
  value < 0.1 ? String(Number(value.toPrecision(1))) : value.toFixed(2);

/** @param {number | null | undefined} value */
export function rate(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return NONE;
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return NONE;
  const whole = Math.ceil(seconds);
  if (whole < 60) return t().numbers.seconds(whole);
  if (whole < 3600) return t().numbers.minutes(Math.floor(whole / 60), whole % 60);
  return t().numbers.hours(Math.floor(whole / 3600), Math.floor((whole % 3600) / 60));
}

/** @param {(number | null)[] | null} shape */
export function shape(shape) {
  if (!shape) return t().numbers.unknown;
  return shape.length === 0 ? t().numbers.scalar : shape.map((size) => size ?? "?").join(" × ");
}

/** @param {number} value */
export function milliseconds(value) {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

const UNITS = ["B", "KiB", "MiB", "GiB"];

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (typeof value !== "number") return NONE;
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(value, 1)) / 10));
  const size = value / 1024 ** power;
  return `${power > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[power]}`;
}

/** A time of day; with its day, if that is not today: "12:03", "21 Nov 12:03". @param {Date} when */
export function moment(when, now = new Date()) {
  const time = [when.getHours(), when.getMinutes()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  if (when.toDateString() === now.toDateString()) return time;
  const year = when.getFullYear() === now.getFullYear() ? null : when.getFullYear();
  return `${t().numbers.day(when.getDate(), when.getMonth(), year)} ${time}`;
}
