/** The figures that a program shows, in words: for readers of the screen, and once a figure is not kept. */

import * as format from "./format.js";

/** @import { Figure, PlotSeries } from "../engine/messages.js" */

/** The numbers in bytes that Python sent. @param {Uint8Array} bytes */
export const numbers = (bytes) => new Float64Array(bytes.slice().buffer);

/** @param {number} value */
export const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

/** Say what a figure shows. @param {Figure} figure */
export function describe(figure) {
  const name = figure.title ? `${figure.title}: ` : "";
  if (figure.shows === "plot") return `${name}plot of ${figure.series.map(seriesInWords).join("; ")}`;
  const { count, height, width, scale, low, high, note } = figure;
  const what = count === 1 ? `picture of ${height} × ${width}` : `${count} pictures of ${height} × ${width}`;
  const range = scale === "colour" ? " in colour" : `, from ${short(low)} to ${short(high)}`;
  return `${name}${what}${range}${note ? ` (${note})` : ""}`;
}

/** @param {PlotSeries} series */
function seriesInWords({ label, y, total }) {
  const finite = numbers(y).filter(Number.isFinite);
  const points = `${label ? `${label}, ` : ""}${format.count(total)} ${total === 1 ? "point" : "points"}`;
  if (finite.length === 0) return `${points} without numbers`;
  const [low, high] = finite.reduce(([a, b], each) => [Math.min(a, each), Math.max(b, each)], [Infinity, -Infinity]);
  return `${points} from ${short(low)} to ${short(high)}, last ${short(finite[finite.length - 1])}`;
}
