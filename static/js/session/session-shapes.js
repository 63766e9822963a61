/** The shape of each part of a saved session: what is read from storage must fit it. */

import * as is from "../../engine/forms.js";
import {
  STATES,
  errorFields,
  figure,
  graph,
  report,
  settingFields,
  timeline,
  traceEvents,
} from "../../engine/message-checks.js";
import { SERIES } from "../curves.js";
import { areRanges } from "../editor/line-locks.js";

const fraction = is.nullable(is.number);

const epochRow = {
  epoch: is.count,
  step: is.count,
  loss: fraction,
  accuracy: fraction,
  testLoss: fraction,
  testAccuracy: fraction,
};
const program = is.record({ exampleId: is.text, source: is.text, began: is.number });

const fit = is.record({
  epochs: is.count,
  steps_per_epoch: is.count,
  total_steps: is.count,
  batch_size: is.count,
  metrics: is.listOf(is.text),
  device: is.text,
  device_reason: is.optional(is.text),
  adapter: is.nullable(is.text),
  parameters: is.count,
});

const labOptions = is.record({ strategy: is.text });

const trace = is.record({
  steps: is.count,
  timeline,
  events: traceEvents,
  bubble_formula: fraction,
  memory: is.mapOf(is.number),
});

const curves = is.record({
  steps: is.doubles,
  stride: is.count,
  inLast: is.count,
  trends: is.doubles,
  series: is.record(Object.fromEntries(SERIES.map((name) => [name, is.doubles]))),
  began: is.optional(is.number),
});

/** @type {is.Check} columns of the same length */
const columns = (value) =>
  curves(value) &&
  value.trends.length === 4 &&
  SERIES.every((name) => value.series[name].length === value.steps.length);

/** @type {is.Check} edges between nodes that exist */
const wholeGraph = (value) => {
  if (!graph(value)) return false;
  const names = new Set(value.nodes.map((/** @type {{name: string}} */ { name }) => name));
  return value.edges.every(
    (/** @type {{from: string, to: string}} */ { from, to }) => names.has(from) && names.has(to),
  );
};

/** Of the run that a run went on from. */
const branch = { number: is.count, step: is.count };

const labSettings = is.record({
  strategy: is.text,
  devices: is.count,
  micro_batches: is.count,
  schedule: is.text,
  chunks: is.count,
  collective: is.text,
  staleness: is.nullable(is.count),
  every: is.count,
  delays: is.listOf(is.number),
  steps: is.count,
});
const landmarks = is.listOf(is.tuple(is.count, is.number));
const settings = is.listOf(is.record(settingFields));
const device = is.oneOf("auto", "gpu", "cpu");

/**
 * Ids of examples, and of programs from files, which have their names: they become names of properties and of files.
 * @type {is.Check}
 */
export const isExampleId = (id) =>
  typeof id === "string" &&
  /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(id) &&
  !(id in Object.prototype);

/** A program in a link. */
export const SHARED = is.record({
  version: is.oneOf(1),
  exampleId: (id) => id === "" || isExampleId(id),
  title: is.text,
  code: is.text,
  device,
  view: is.text,
  lab: is.nullable(labSettings),
  hidden: is.optional(is.listOf(is.text)),
  locked: is.optional(areRanges),
  expected: is.nullable(is.record({ losses: landmarks, steps: is.count, device: is.text })),
});

/** Checks by the name of the part; that of "code" is for the code of one example. */
export const SHAPES = {
  code: is.text,
  choices: is.record({
    exampleId: is.text,
    device,
    view: is.text,
    graphColours: is.oneOf("phase", "device", "time", "magnitude"),
    lab: labSettings,
  }),
  run: is.record({
    state: STATES,
    program,
    fit: is.nullable(fit),
    progress: is.record({
      ...epochRow,
      stepsPerSecond: fraction,
      seconds: is.number,
      eta: fraction,
    }),
    epochs: is.listOf(is.record(epochRow)),
    error: is.nullable(is.record(errorFields)),
    branch: is.optional(is.nullable(is.record({ ...branch, began: is.number }))),
  }),
  curves: columns,
  losses: is.record({
    landmarks,
    shared: is.nullable(SHARED),
    settings: is.optional(settings),
  }),
  locks: is.listOf(is.record({ exampleId: isExampleId, lines: areRanges, isHeld: is.flag })),
  runs: is.listOf(
    is.record({
      id: is.number,
      number: is.count,
      exampleId: is.text,
      title: is.text,
      code: is.text,
      device,
      ranOn: is.text,
      lab: is.nullable(labSettings),
      state: is.text,
      step: is.count,
      totalSteps: is.count,
      seconds: is.number,
      loss: fraction,
      accuracy: fraction,
      testAccuracy: fraction,
      isPinned: is.flag,
      colour: is.count,
      isEdited: is.optional(is.flag),
      steps: is.listOf(is.number),
      losses: is.listOf(fraction),
      settings: is.optional(settings),
      hasEarlierFits: is.optional(is.flag),
      parameters: is.optional(is.count),
      epochs: is.optional(is.count),
      trainAccuracy: is.optional(fraction),
      testLoss: is.optional(fraction),
      branch: is.optional(is.record(branch)),
    }),
  ),
  output: is.listOf(
    is.record({
      text: is.text,
      stream: is.oneOf("stdout", "stderr", "note", "input"),
      figure: is.optional(figure),
    }),
  ),
  graph: is.nullable(wholeGraph),
  lab: is.listOf(
    is.record({
      id: is.count,
      colour: is.count,
      title: is.text,
      isSingle: is.flag,
      devices: is.count,
      state: is.text,
      program: is.text,
      example: is.text,
      device: is.nullable(is.text),
      isHeldUp: is.flag,
      msPerStep: fraction,
      loss: fraction,
      steps: is.listOf(is.number),
      losses: is.listOf(fraction),
      trace: is.nullable(trace),
      report,
    }),
  ),
  checkpoint: is.record({
    bytes: is.bytes,
    step: is.count,
    totalSteps: is.count,
    epoch: is.count,
    epochs: is.count,
    parameters: is.count,
    finished: is.flag,
    at: is.number,
    program,
    options: is.record({ devices: is.optional(is.count), lab: is.optional(labOptions) }),
  }),
};

/** @typedef {keyof typeof SHAPES} Shape */

/** The summary of a session, in the list of projects. */
export const SUMMARY = is.record({
  id: is.text,
  version: is.oneOf(1),
  created: is.number,
  saved: is.number,
  touched: is.flag,
  name: is.optional(is.text),
  exampleId: is.text,
  title: is.text,
  edited: is.flag,
  state: is.text,
  step: is.count,
  totalSteps: is.count,
});
