/** The shapes of the parts of a saved session that the page draws: their size decides how long that takes. */

import * as is from "../../engine/forms.js";
import { checkOf, fieldsOf } from "../../engine/message-checks.js";
import { MOST, known, measure, moment, name, result, tally } from "../state/bounds.js";
import { SERIES } from "../pictures/curves.js";

/**
 * @import { Timeline, TraceEvent } from "../../engine/messages.js"
 */

/** @type {is.Check} times and sizes that can be drawn, of devices that a page can have */
const drawable = ({ timeline: { devices, ...facts }, events }) =>
  devices.length <= MOST.devices &&
  events.length <= MOST.events &&
  [facts.steps, facts.seconds, facts.bubble, facts.communication, facts.bytes_moved].every(
    measure,
  ) &&
  devices.every((/** @type {Timeline["devices"][number]} */ each) =>
    [each.idle, each.sent, each.received, ...Object.values(each.kinds)].every(measure),
  ) &&
  events.every((/** @type {TraceEvent} */ { start, end, bytes }) =>
    [start, end, bytes].every(measure),
  );

export const trace = is.both(
  is.record({
    steps: tally,
    timeline: checkOf("Timeline"),
    events: fieldsOf("TracedStep").events,
    bubble_formula: known(measure),
    memory: is.mapOf(measure, MOST.devices),
  }),
  drawable,
);

/** @type {is.Check} steps of a curve, in their order */
const ascending = (steps) =>
  steps.length <= MOST.points &&
  steps.every(
    (/** @type {number} */ step, /** @type {number} */ at) =>
      tally(step) && (at === 0 || steps[at - 1] <= step),
  );

const columns = is.record({
  steps: is.both(is.doubles, ascending),
  stride: is.both(tally, (stride) => stride > 0),
  inLast: tally,
  trends: is.doubles,
  began: is.optional(moment),
  series: is.record(
    Object.fromEntries(
      SERIES.map((each) => {
        const numbers = is.both(is.doubles, (values) => values.every(result));
        return [each, each === "elo" ? is.optional(numbers) : numbers];
      }),
    ),
  ),
});

/** @type {is.Check} columns of the same length */
export const curves = (value) =>
  columns(value) &&
  value.trends.length === 4 &&
  SERIES.every((each) => (value.series[each] ?? value.steps).length === value.steps.length);

/** The curve of an earlier run. @type {is.Check} */
export const thinCurve = ({ steps, losses }) => ascending(steps) && losses.length === steps.length;
export const curve = {
  steps: is.listOf(is.number, MOST.points),
  losses: is.listOf(result, MOST.points),
};

/** @type {is.Check} edges between nodes that exist */
export const wholeGraph = (value) => {
  if (
    !checkOf("Graph")(value) ||
    value.nodes.length > MOST.nodes ||
    value.edges.length > MOST.edges
  )
    return false;
  if (value.nodes.some((/** @type {{scope: string}} */ { scope }) => !isScope(scope))) return false;
  const names = new Set(value.nodes.map((/** @type {{name: string}} */ each) => each.name));
  return value.edges.every(
    (/** @type {{from: string, to: string}} */ { from, to }) => names.has(from) && names.has(to),
  );
};

/** @type {is.Check} scopes are drawn inside of each other */
const isScope = (path) => name(path) && path.split("/").length <= MOST.scopes;

/** @type {is.Check} */
export const storedFigure = (value) => {
  if (!checkOf("Figure")(value)) return false;
  if (value.shows === "pictures")
    return value.pixels.length <= MOST.pixelBytes && value.count <= MOST.pictures;
  if (value.shows === "image")
    return value.png.length <= MOST.pngBytes && value.axes.length <= MOST.pictures;
  return (
    value.series.length <= MOST.series &&
    value.series.every((/** @type {{x: Uint8Array}} */ { x }) => x.length <= 8 * MOST.plotted)
  );
};
