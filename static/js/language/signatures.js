/** Signatures as text. */

/** @import { Entry, Parameter } from "./names.js" */

/** A parameter with its default. @param {Parameter} parameter @returns {string} */
export function parameterText([name, fallback]) {
  const value = readable(fallback);
  return value === "" ? name : `${name}=${value}`;
}

/** A default that says something: objects without a literal are left out. @param {string | null | undefined} fallback */
const readable = (fallback) => (!fallback ? "" : fallback.startsWith("<") ? "…" : fallback);

/**
 * The parameters in parentheses.
 * @param {Entry} entry
 * @param {number} [most] characters to show at most
 */
export function signature(entry, most = Infinity) {
  const texts = (entry.p ?? []).map(parameterText);
  const whole = `(${texts.join(", ")})`;
  if (whole.length <= most) return whole;
  const required = (entry.p ?? [])
    .filter(([name, fallback]) => !fallback && !name.startsWith("*"))
    .map(([name]) => name);
  const short = `(${[...required, "…"].join(", ")})`;
  return short.length <= most ? short : "(…)";
}
