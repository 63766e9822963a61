import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { nameOfClass } from "../../words/class-names.js";
import { count } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { COLOURS, css } from "../../pictures/palette.js";
import { drawPoint } from "../../pictures/point-shapes.js";
import { lookOf, RIGHT, WRONG, NEITHER, styleOf, UNKNOWN } from "./nodes-drawing.js";

/**
 * @import { Palette } from "../../pictures/plane-colours.js"
 * @import { Colouring, NodesAnswer, NodesGraph } from "./nodes-model.js"
 */

/** More classes than these have no legend. */
const MOST_IN_LEGEND = 12;

/**
 * The looks of nodes, and how many of those that are drawn have each.
 * @param {{graph: NodesGraph, answer: NodesAnswer, colouring: Colouring, palette: Palette, names: string[]}} props
 */
export function NodesLegend({ graph, answer, colouring, palette, names }) {
  const words = t().nodes;
  const rows = entries(graph, answer, colouring).map(([look, nodes]) => ({
    look,
    text: `${textOf(look, names)} ${count(nodes)}`,
  }));
  if (rows.length > MOST_IN_LEGEND) return null;
  const isPart = graph.trains.some((each) => each === 0);
  return html`<ul class="nodes-legend hint">
    ${rows.map(({ look, text }) => html`<li key=${look}><${Look} look=${look} palette=${palette} />${text}</li>`)}
    ${isPart && html`<li key="trains"><span class="nodes-ring" aria-hidden="true"></span>${words.trains}</li>`}
  </ul>`;
}

/** The looks in use with the number of their nodes. @param {NodesGraph} graph @param {NodesAnswer} answer @param {Colouring} colouring @returns {[number, number][]} */
function entries(graph, answer, colouring) {
  const looks =
    colouring === "right" ? [RIGHT, WRONG] : Array.from({ length: graph.classes }, (_, at) => at);
  const counts = new Map(looks.map((look) => [look, 0]));
  graph.numbers.forEach((_, node) => {
    const look = lookOf({ graph, answer, colouring }, node);
    counts.set(look, (counts.get(look) ?? 0) + 1);
  });
  return [...counts];
}

/** @param {number} look @param {string[]} names */
function textOf(look, names) {
  const words = t().nodes;
  if (look === RIGHT) return words.isRight;
  if (look === WRONG) return words.isWrong;
  if (look === UNKNOWN) return words.unknown;
  return look === NEITHER ? words.neither : nameOfClass(look, names);
}

/** A node as it is drawn. @param {{look: number, palette: Palette}} props */
function Look({ look, palette }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const [shape, colour] = styleOf(look, palette);
    const isHollow = look >= COLOURS && look < RIGHT;
    context.clearRect(0, 0, 24, 24);
    drawPoint(context, shape, 12, 12, 8, colour, css(palette.surface), isHollow);
  }, [look, palette]);
  return html`<canvas class="plane-swatch" width="24" height="24" ref=${canvas} aria-hidden="true"></canvas>`;
}
