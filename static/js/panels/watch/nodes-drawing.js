/** Draws the nodes of a graph and the lines between them on a canvas. */

import { COLOURS, css } from "../../pictures/palette.js";
import { drawPoint } from "../../pictures/point-shapes.js";
import { cssColour } from "../../frame/theme.js";
import { neighboursOf, strength } from "./nodes-model.js";

/**
 * @import { Palette } from "../../pictures/plane-colours.js"
 * @import { Colouring, Messages, NodesAnswer, NodesGraph } from "./nodes-model.js"
 * @import { Sight, Size } from "./nodes-sight.js"
 * @typedef {{graph: NodesGraph, answer: NodesAnswer, points: Float32Array, sight: Sight, whole: Sight, size: Size,
 *            palette: Palette, colouring: Colouring, messages: Messages | null, chosen: number}} NodesDrawing
 *   `whole`: the sight of the whole drawing; `messages`: of the layer that the lines show; `chosen`: −1 for no node
 */

/** More nodes than these are discs, which are quicker to draw than the shapes of the classes. */
const MOST_SHAPES = 1200;
/** Lines of different strength are drawn in so many steps. */
const STEPS = 6;
const TURN = 2 * Math.PI;

/** The radius of a node, in pixels. @param {NodesDrawing} drawing */
export function radiusOf({ graph, sight, whole }) {
  const usual = Math.min(7, Math.max(1.8, 90 / Math.sqrt(graph.numbers.length || 1)));
  return Math.min(14, usual * Math.sqrt(sight.scale / whole.scale));
}

/** The numbers of looks that are no class. */
export const [RIGHT, WRONG, NEITHER, UNKNOWN] = [1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3];

/** The look of a node: a class, or right or wrong. @param {Pick<NodesDrawing, "graph" | "answer" | "colouring">} drawing @param {number} node */
export function lookOf({ graph, answer, colouring }, node) {
  const [label, predicted] = [graph.labels[node], answer.predicted[node]];
  if (colouring === "predicted") return predicted < 0 ? NEITHER : predicted;
  if (label < 0) return UNKNOWN;
  if (colouring === "true") return label;
  return predicted === label ? RIGHT : WRONG;
}

/** The shape and the colour of a look. @param {number} look @param {Palette} palette @returns {[number, string]} */
export function styleOf(look, palette) {
  if (look === RIGHT) return [0, cssColour("--accent")];
  if (look === WRONG) return [3, cssColour("--danger")];
  if (look === NEITHER || look === UNKNOWN) return [0, cssColour("--muted")];
  return [look, css(palette.classes[look % COLOURS])];
}

/** @param {CanvasRenderingContext2D} context whose unit is a pixel of the page @param {NodesDrawing} drawing */
export function drawNodes(context, drawing) {
  const { size, chosen, graph } = drawing;
  context.clearRect(0, 0, size.width, size.height);
  drawLines(context, drawing);
  const radius = radiusOf(drawing);
  const near = new Set(chosen < 0 ? [] : [chosen, ...neighboursOf(graph, chosen)]);
  if (chosen >= 0) {
    drawLinesOf(context, drawing);
    context.globalAlpha = 0.35; // what the node has nothing to do with
  }
  drawAll(context, drawing, radius, (node) => !near.has(node));
  context.globalAlpha = 1;
  if (chosen < 0) return;
  drawAll(context, drawing, radius, (node) => near.has(node));
  const [x, y] = placeOf(drawing, chosen);
  ring(context, x, y, radius + 4.5, 2.2);
}

/** @param {NodesDrawing} drawing @param {number} node @returns {[number, number]} */
const placeOf = ({ points, sight }, node) => [
  sight.x + sight.scale * points[2 * node],
  sight.y + sight.scale * points[2 * node + 1],
];

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} radius @param {number} width */
function ring(context, x, y, radius, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, TURN);
  context.strokeStyle = cssColour("--text");
  context.lineWidth = width;
  context.stroke();
}

/** All lines: as strong as the messages along them. @param {CanvasRenderingContext2D} context @param {NodesDrawing} drawing */
function drawLines(context, drawing) {
  const { graph, messages, chosen, size } = drawing;
  const lines = graph.pairs.length / 2;
  const crowd = Math.min(1, Math.sqrt(700 / Math.max(lines, 1)));
  const paths = Array.from({ length: messages ? STEPS : 1 }, () => new Path2D());
  for (let line = 0; line < lines; line += 1) {
    const [x, y] = placeOf(drawing, graph.pairs[2 * line]);
    const [toX, toY] = placeOf(drawing, graph.pairs[2 * line + 1]);
    const isOut =
      Math.max(x, toX) < 0 ||
      Math.max(y, toY) < 0 ||
      Math.min(x, toX) > size.width ||
      Math.min(y, toY) > size.height;
    if (isOut) continue;
    const step = messages ? Math.round((STEPS - 1) * strength(messages, line, lines)) : 0;
    paths[step].moveTo(x, y);
    paths[step].lineTo(toX, toY);
  }
  context.strokeStyle = cssColour("--muted");
  const dimmed = chosen < 0 ? 1 : 0.45;
  paths.forEach((path, step) => {
    const part = messages ? (step + 0.5) / STEPS : 0.35;
    context.globalAlpha = dimmed * (0.12 + 0.75 * part) * (0.45 + 0.55 * crowd);
    context.lineWidth = messages ? 0.6 + 2.2 * part * crowd : 1;
    context.stroke(path);
  });
  context.globalAlpha = 1;
}

/** The lines of the chosen node. @param {CanvasRenderingContext2D} context @param {NodesDrawing} drawing */
function drawLinesOf(context, drawing) {
  const { graph, messages, chosen } = drawing;
  const [x, y] = placeOf(drawing, chosen);
  context.strokeStyle = cssColour("--text");
  for (let place = graph.first[chosen]; place < graph.first[chosen + 1]; place += 1) {
    const [toX, toY] = placeOf(drawing, graph.ends[place]);
    const part = messages ? strength(messages, graph.lines[place], graph.pairs.length / 2) : 0.2;
    context.globalAlpha = 0.4 + 0.5 * part;
    context.lineWidth = 1 + 3.5 * part;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/**
 * The nodes that are chosen by `isDrawn`, by their looks: those of one look in one path if there are many.
 * @param {CanvasRenderingContext2D} context
 * @param {NodesDrawing} drawing
 * @param {number} radius
 * @param {(node: number) => boolean} isDrawn
 */
function drawAll(context, drawing, radius, isDrawn) {
  const { graph, palette, size } = drawing;
  const surface = css(palette.surface);
  const text = cssColour("--text");
  /** @type {Map<number, number[]>} */
  const looks = new Map();
  for (let node = 0; node < graph.numbers.length; node += 1) {
    if (!isDrawn(node)) continue;
    const [x, y] = placeOf(drawing, node);
    if (x < -20 || y < -20 || x > size.width + 20 || y > size.height + 20) continue;
    const look = lookOf(drawing, node);
    const nodes = looks.get(look);
    if (nodes) nodes.push(node);
    else looks.set(look, [node]);
  }
  const isCrowd = graph.numbers.length > MOST_SHAPES;
  const trained = [];
  for (const look of [...looks.keys()].sort((one, other) => one - other)) {
    const [shape, colour] = styleOf(look, palette);
    const nodes = /** @type {number[]} */ (looks.get(look));
    const path = new Path2D();
    for (const node of nodes) {
      const [x, y] = placeOf(drawing, node);
      if (graph.trains[node]) trained.push(node);
      const size = graph.trains[node] ? 1.25 * radius : radius;
      const isHollow = look >= COLOURS && look < RIGHT;
      if (isCrowd) {
        path.moveTo(x + size, y);
        path.arc(x, y, size, 0, TURN);
      } else drawPoint(context, shape, x, y, size, colour, surface, isHollow);
    }
    if (!isCrowd) continue;
    context.fillStyle = colour;
    context.fill(path);
  }
  // Nodes that train have a ring, over those that do not.
  if (trained.length === graph.numbers.length) return;
  context.strokeStyle = text;
  context.lineWidth = Math.max(1, 0.28 * radius);
  context.beginPath();
  for (const node of trained) {
    const [x, y] = placeOf(drawing, node);
    const size = 1.25 * radius + 1.6;
    context.moveTo(x + size, y);
    context.arc(x, y, size, 0, TURN);
  }
  context.stroke();
}
