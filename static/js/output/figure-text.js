/** The figures that a program shows, in words: for readers of the screen, and once a figure is not kept. */

import { t } from "../words/locale.js";

/** @import { Figure, PlotAxes, PlotSeries } from "../../engine/messages.js" */

/** The numbers in bytes that Python sent. @param {Uint8Array} bytes */
export const numbers = (bytes) => new Float64Array(bytes.slice().buffer);

/** @param {number} value */
export const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

/** Say what a figure shows. @param {Figure} figure */
export function describe(figure) {
  const what = inWords(figure);
  return figure.title ? t().output.figures.titled(figure.title, what) : what;
}

/** @param {Figure} figure */
function inWords(figure) {
  const words = t().output.figures;
  if (figure.shows === "plot")
    return words.plot(t().numbers.clauses(figure.series.map(seriesInWords)));
  if (figure.shows === "image")
    return words.image(t().numbers.clauses(figure.axes.map(axesInWords)));
  return picturesInWords(figure);
}

/** @param {PlotAxes} axes */
function axesInWords({ title, x_label: across, y_label: up, labels, ...counts }) {
  const words = t().output.figures;
  const what = words.axes(across, up, words.contents(counts), labels);
  return title ? words.titled(title, what) : what;
}

/** @param {Extract<Figure, {shows: "pictures"}>} figure */
function picturesInWords({ count, height, width, scale, low, high, note }) {
  const words = t().output.figures;
  const what = words.pictures(count, height, width);
  const text =
    scale === "colour" ? words.inColour(what) : words.range(what, short(low), short(high));
  return note ? words.noted(text, note) : text;
}

/** @param {PlotSeries} series */
function seriesInWords({ label, y, total }) {
  const finite = numbers(y).filter(Number.isFinite);
  const words = t().output.figures;
  const points = words.points(label, total);
  if (finite.length === 0) return words.noNumbers(points);
  const [low, high] = finite.reduce(
    ([a, b], each) => [Math.min(a, each), Math.max(b, each)],
    [Infinity, -Infinity],
  );
  return words.values(points, short(low), short(high), short(finite[finite.length - 1]));
}
