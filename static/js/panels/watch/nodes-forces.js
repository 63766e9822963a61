/** Places of the nodes of a graph by forces, the same for the same graph: neighbours attract, all repel each other. */

/**
 * @import * as Forces from "../../../vendor/d3-force.js"
 * @typedef {{nodes: number, pairs: Int32Array, start: Float32Array | null}} LayoutQuestion
 *   `pairs` (lines, 2); `start` (nodes, 2): where they are at first, if they are somewhere
 */

/** Steps of the simulation; fewer and rougher ones for many nodes, whose steps take longer. */
const STEPS = 300;
const STEPS_OF_MANY = 110;
export const MANY = 1200;
/** How strongly nodes move at first that are somewhere already; 1 for others. */
const BEGIN_AGAIN = 0.35;
/** How long a line is without other forces. */
const LENGTH = 26;

/**
 * @param {typeof Forces} forces the library d3-force
 * @param {LayoutQuestion} question
 * @param {(points: Float32Array) => void} [onStep] is called after each step with the places so far (nodes, 2)
 * @returns {Float32Array} (nodes, 2)
 */
export function settled(forces, { nodes, pairs, start }, onStep) {
  const bodies = Array.from({ length: nodes }, (_, at) =>
    start ? { x: start[2 * at], y: start[2 * at + 1] } : {},
  );
  const lines = Array.from({ length: pairs.length / 2 }, (_, at) => ({
    source: pairs[2 * at],
    target: pairs[2 * at + 1],
  }));
  const areMany = nodes > MANY;
  const steps = areMany ? STEPS_OF_MANY : STEPS;
  const simulation = forces
    .forceSimulation(bodies)
    .alpha(start ? BEGIN_AGAIN : 1)
    .alphaDecay(1 - 0.001 ** (1 / steps))
    .force("lines", forces.forceLink(lines).distance(LENGTH))
    .force(
      "between",
      forces
        .forceManyBody()
        .strength(-34)
        .theta(areMany ? 1.5 : 1)
        .distanceMax(600),
    )
    // Parts without a line to the others stay near them.
    .force("across", forces.forceX().strength(0.06))
    .force("up", forces.forceY().strength(0.06))
    .stop();
  const points = new Float32Array(2 * nodes);
  for (let step = 0; step < steps; step += 1) {
    simulation.tick();
    bodies.forEach(({ x = 0, y = 0 }, at) => {
      points[2 * at] = x;
      points[2 * at + 1] = y;
    });
    onStep?.(points);
  }
  return points;
}
