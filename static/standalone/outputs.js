/** What each kind of output shows. */

import { element } from "./elements.js";
import { show } from "./pictures.js";
import { numberText, percent, words } from "./words.js";

/** @import { Tensor } from "./tensors.js" */
/** Bars and numbers that are listed. */
const MOST_BARS = 12;
const MOST_NUMBERS = 200;

/** @param {ArrayLike<number>} scores */
export function softmax(scores) {
  const largest = Math.max(...Array.from(scores));
  const powers = Array.from(scores, (score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/**
 * @param {any} output as `about.py` describes it @param {Tensor} value
 * @returns {HTMLElement}
 */
export function shown(output, value) {
  if (output.kind === "classes") return classes(output, Array.from(value.data));
  if (output.kind === "chance") {
    const chance = output.scale === "sigmoid" ? 1 / (1 + Math.exp(-value.data[0])) : value.data[0];
    return bars(output.labels, [1 - chance, chance], true);
  }
  if (output.kind === "picture") {
    const canvas = element("canvas", {
      className: "result-picture",
      role: "img",
      "aria-label": words.picture,
      data: "result-picture",
    });
    const low = Math.min(0, ...value.data);
    show(canvas, value.data, output, low, Math.max(...value.data));
    return canvas;
  }
  return numbers(Array.from(value.data));
}

/** @param {any} output @param {number[]} values */
function classes({ labels, scale }, values) {
  return bars(labels, scale === "softmax" ? softmax(values) : values, scale !== "scores");
}

/** @param {string[]} labels @param {number[]} values @param {boolean} areChances */
function bars(labels, values, areChances) {
  const name = (/** @type {number} */ i) =>
    labels[i] ?? (labels.length > 0 || values.length > 10 ? words.classNumber(i) : String(i));
  const order = [...values.keys()].sort((i, j) => values[j] - values[i]);
  const [best] = order;
  const kept = values.length <= MOST_BARS ? [...values.keys()] : order.slice(0, MOST_BARS);
  const largest = Math.max(...values.map(Math.abs), 1e-30);
  const rows = kept.map((i) =>
    element(
      "tr",
      i === best ? { className: "best" } : {},
      element("th", { scope: "row" }, name(i)),
      element(
        "td",
        {},
        element("meter", {
          min: 0,
          max: 1,
          value: areChances ? values[i] : Math.abs(values[i]) / largest,
          "aria-hidden": "true",
        }),
      ),
      element(
        "td",
        { className: "value", data: `value-${i}` },
        areChances ? percent(values[i]) : numberText(values[i]),
      ),
    ),
  );
  const verdict = areChances
    ? words.verdict(name(best), percent(values[best]))
    : words.largest(name(best));
  return element(
    "div",
    {},
    element("p", { className: "verdict", data: "verdict" }, verdict),
    element("table", { className: "bars" }, element("tbody", {}, ...rows)),
  );
}

/** @param {number[]} values */
function numbers(values) {
  const kept = values.slice(0, MOST_NUMBERS);
  const rows = kept.map((value, i) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, words.outputNumber(i + 1)),
      element("td", { className: "value", data: `value-${i}` }, numberText(value)),
    ),
  );
  const rest = values.length - kept.length;
  return element(
    "div",
    {},
    ...(values.length === 1
      ? [element("p", { className: "verdict", data: "verdict" }, numberText(values[0]))]
      : []),
    element("table", { className: "bars" }, element("tbody", {}, ...rows)),
    ...(rest > 0 ? [element("p", {}, words.more(rest))] : []),
  );
}
