/** Where the lines, points and ticks of a plot are: plain numbers, for the page and for files. */

/**
 * @typedef {{low: number, high: number, ticks: {place: number, label: string}[], place: (value: number) => number}} Axis
 * @typedef {{d: string, points: [number, number][]}} Marks
 *   `d`: the path of the line; `points`: the ones to draw as points
 * @typedef {{width: number, height: number, left: number, right: number, top: number, bottom: number}} Frame
 *   The frame of the lines, in a picture of width × height
 */

const TICKS_ACROSS = 7;
const TICKS_UP = 5;

/**
 * @param {number[]} values whatever is not finite does not count
 * @param {number} start
 * @param {number} end
 * @param {number} count about how many ticks
 * @returns {Axis}
 */
export function axis(values, start, end, count) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) [low, high] = [0, 1];
  if (low === high) {
    const margin = Math.abs(low) / 2 || 0.5;
    [low, high] = [low - margin, high + margin];
  }
  // Halves, because the difference of the ends may be too large for a number.
  const place = (/** @type {number} */ value) =>
    start + ((value / 2 - low / 2) / (high / 2 - low / 2)) * (end - start);
  return {
    low,
    high,
    place,
    ticks: ticks(low, high, count).map((value) => ({
      place: place(value),
      label: tickLabel(value),
    })),
  };
}

/** Round numbers between two others. @param {number} low @param {number} high @param {number} count */
export function ticks(low, high, count) {
  const rough = high / count - low / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const first = Math.ceil(low / step);
  const total = Math.min(2 * count, Math.floor(high / step) - first + 1);
  return Array.from({ length: Math.max(0, total) }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/** @param {number} value */
function tickLabel(value) {
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential() : String(value);
  return text.replace("-", "−");
}

/**
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>}[]} series
 * @param {Frame} frame
 * @param {boolean} asPoints
 * @returns {{across: Axis, up: Axis, marks: Marks[]}}
 */
export function geometry(series, frame, asPoints) {
  const all = (/** @type {"x" | "y"} */ name) => series.flatMap((each) => Array.from(each[name]));
  const across = axis(all("x"), frame.left, frame.width - frame.right, TICKS_ACROSS);
  const up = axis(all("y"), frame.height - frame.bottom, frame.top, TICKS_UP);
  return { across, up, marks: series.map(({ x, y }) => marks(x, y, across, up, asPoints)) };
}

/**
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @param {Axis} across
 * @param {Axis} up
 * @param {boolean} asPoints
 * @returns {Marks}
 */
function marks(x, y, across, up, asPoints) {
  const places = Array.from(y, (value, at) =>
    Number.isFinite(value) && Number.isFinite(x[at])
      ? /** @type {[number, number]} */ ([rounded(across.place(x[at])), rounded(up.place(value))])
      : null,
  );
  if (asPoints) return { d: "", points: places.filter((place) => place !== null) };
  let d = "";
  /** Points between two gaps, which no line shows. @type {[number, number][]} */
  const alone = [];
  places.forEach((place, at) => {
    if (!place) return;
    d += `${places[at - 1] ? "L" : "M"}${place[0]} ${place[1]}`;
    if (!places[at - 1] && !places[at + 1]) alone.push(place);
  });
  return { d, points: alone };
}

/** @param {number} value in pixels */
const rounded = (value) => Math.round(value * 10) / 10;
