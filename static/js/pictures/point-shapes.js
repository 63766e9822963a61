/** The shapes of points: classes differ in shape as well as in colour. */

const TURN = 2 * Math.PI;
/** Corners of each shape; 0 is a disc. The last number is the turn of the first corner. */
const SHAPES = /** @type {const} */ ([
  [0, 0],
  [4, 0.125],
  [3, 0.75],
  [4, 0],
  [5, 0.75],
  [6, 0],
  [3, 0.25],
  [8, 0],
]);

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} label of the class
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 * @param {string} edge
 * @param {boolean} hollow
 */
export function drawPoint(context, label, x, y, radius, colour, edge, hollow) {
  const [corners, first] = SHAPES[label % SHAPES.length];
  context.beginPath();
  if (corners === 0) context.arc(x, y, radius, 0, TURN);
  for (let corner = 0; corner < corners; corner += 1) {
    const angle = TURN * (first + corner / corners);
    context.lineTo(x + 1.15 * radius * Math.cos(angle), y + 1.15 * radius * Math.sin(angle));
  }
  context.closePath();
  context.fillStyle = hollow ? edge : colour;
  context.strokeStyle = hollow ? colour : edge;
  context.lineWidth = radius * (hollow ? 0.5 : 0.3);
  context.fill();
  context.stroke();
}
