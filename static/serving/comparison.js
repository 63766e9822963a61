// The answers of two versions side by side.

import { colorOf, number } from "./chart.js";
import { element, shape } from "./elements.js";
import { words } from "./words.js";

/** Numbers beyond this many are shown as text. */
const MOST_BARS = 40;
const LONGEST = 4000;

/** @typedef {{ version: number, outputs: Record<string, unknown> }} VersionAnswer */

/**
 * @param {VersionAnswer} first
 * @param {VersionAnswer} second
 */
export function comparison(first, second) {
  const difference = largestDifference(first.outputs, second.outputs);
  const text = difference === 0 ? words.same : `${words.differ} ${number(difference)}.`;
  const columns = [first, second].map((each) => column(each));
  return [
    element("p", { "data-testid": "difference" }, text),
    element("div", { class: "columns" }, ...columns),
  ];
}

/** @param {VersionAnswer} answer */
function column({ version, outputs }) {
  const parts = Object.entries(outputs).map(([name, values]) =>
    element("div", {}, element("h4", {}, name), view(values, version)),
  );
  return element("div", {}, element("h3", {}, `${words.version} ${version}`), ...parts);
}

/**
 * @param {unknown} values
 * @param {number} version
 */
function view(values, version) {
  const numbers = flat(values);
  if (!Array.isArray(values) || numbers.length !== values.length || numbers.length > MOST_BARS) {
    return element("pre", {}, JSON.stringify(values).slice(0, LONGEST));
  }
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const scale = 200 / (high - low || 1);
  const best = numbers.indexOf(Math.max(...numbers));
  const bars = numbers.map((value, index) => {
    const y = 4 + 20 * index;
    const x = 30 + (Math.min(0, value) - low) * scale;
    const kind = `bar color-${colorOf(version)}${index === best ? " best" : ""}`;
    return [
      shape("text", { x: 22, y: y + 12, "text-anchor": "end" }, index),
      shape("rect", { class: kind, x, y, width: Math.abs(value) * scale + 0.5, height: 15, rx: 2 }),
      shape("text", { x: 240, y: y + 12 }, number(value)),
    ];
  });
  const size = { viewBox: `0 0 310 ${20 * numbers.length + 8}`, role: "img" };
  return shape("svg", { ...size, "aria-label": numbers.map(number).join(", ") }, ...bars.flat());
}

/**
 * @param {Record<string, unknown>} first
 * @param {Record<string, unknown>} second
 */
function largestDifference(first, second) {
  const [a, b] = [flat(Object.values(first)), flat(Object.values(second))];
  if (a.length !== b.length) return Infinity;
  return a.reduce((most, value, index) => Math.max(most, Math.abs(value - b[index])), 0);
}

/**
 * @param {unknown} values
 * @returns {number[]}
 */
function flat(values) {
  return (Array.isArray(values) ? values.flat(Infinity) : [values]).map(Number);
}
