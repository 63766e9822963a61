// The curves of latency: median and 99 % of each version.

import { element, shape } from "./elements.js";
import { SECONDS } from "./latency.js";
import { words } from "./words.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 150, 44, 18];
const COLORS = 6;

/**
 * Return the number of the colour of a version.
 * @param {number} version
 */
export const colorOf = (version) => version % COLORS;

/**
 * @param {{ version: number, points: (import("./latency.js").Point | null)[] }[]} curves
 * @returns {HTMLElement}
 */
export function chart(curves) {
  const values = curves.flatMap(({ points }) => points.map((point) => point?.tail ?? 0));
  const most = Math.max(...values, 0);
  if (!(most > 0)) return element("p", { class: "hint" }, words.quiet);
  const top = niceAbove(most);
  /** @param {number} value */
  const y = (value) => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / top);
  const svg = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": words.latency,
  });
  for (const value of [0, top / 2, top]) {
    svg.append(
      shape("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
      shape("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)),
    );
  }
  svg.append(shape("text", { x: LEFT, y: HEIGHT - 3 }, `−${SECONDS} s`));
  svg.append(shape("text", { x: WIDTH, y: HEIGHT - 3, "text-anchor": "end" }, "0 s"));
  for (const { version, points } of curves) {
    const start = SECONDS - points.length;
    for (const key of /** @type {const} */ (["tail", "median"])) {
      const d = path(
        points.map((point) => point && y(point[key])),
        start,
      );
      svg.append(shape("path", { class: `curve ${key} color-${colorOf(version)}`, d }));
    }
  }
  return element("figure", { class: "latency" }, svg, element("figcaption", {}, words.latency));
}

/**
 * Return a path through the points, with a gap where there is none.
 * @param {(number | null)[]} heights
 * @param {number} start
 */
function path(heights, start) {
  const step = (WIDTH - LEFT) / (SECONDS - 1);
  let d = "";
  for (const [index, height] of heights.entries()) {
    if (height === null) continue;
    const x = (LEFT + (start + index) * step).toFixed(1);
    const before = heights[index - 1];
    const is_first = before === null || before === undefined;
    d += is_first ? `M${x} ${height.toFixed(1)}h.01` : `L${x} ${height.toFixed(1)}`;
  }
  return d;
}

/** @param {number} value */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * /** @type {number} */ ([1, 2, 5, 10].find((each) => each * power >= value));
}

/**
 * Return a number with three digits.
 * @param {number} value
 */
export const number = (value) => String(Number(value.toPrecision(3)));
