/** The shape of each part of a saved session: what is read from storage must fit it. */

import { SERIES } from "./curves.js";
import * as is from "./shapes.js";

const fraction = is.nullable(is.number);
const strings = is.listOf(is.text);

const epochRow = {
  epoch: is.count, step: is.count, loss: fraction, accuracy: fraction,
  testLoss: fraction, testAccuracy: fraction,
};
const program = is.record({ exampleId: is.text, source: is.text, began: is.number });

const fit = is.record({
  epochs: is.count, steps_per_epoch: is.count, total_steps: is.count, batch_size: is.count,
  metrics: strings, device: is.text, adapter: is.nullable(is.text), parameters: is.count,
});

const error = is.record({
  type: is.text, message: is.text, line: is.nullable(is.number), op: is.nullable(is.text),
  traceback: is.optional(is.text),
});

const labOptions = is.record({ strategy: is.text });

const trace = is.record({
  steps: is.count,
  timeline: is.record({
    steps: is.count, seconds: is.number, bubble: is.number, communication: is.number,
    bytes_moved: is.number,
    devices: is.listOf(is.record({
      device: is.text, kinds: is.mapOf(is.number), idle: is.number, sent: is.number, received: is.number,
    })),
  }),
  events: is.listOf(is.record({
    name: is.text, device: is.text, start: is.number, end: is.number, kind: is.text, bytes: is.number,
  })),
  bubble_formula: fraction,
  memory: is.mapOf(is.number),
});

const report = is.record({
  updates: is.optional(is.mapOf(is.number)), staleness: is.optional(is.mapOf(is.number)),
  mean_staleness: is.optional(is.number), lost: is.optional(is.mapOf(is.text)),
});

/** @type {is.Check} columns of the same length */
const columns = (value, path) => {
  const fields = is.record({
    steps: is.doubles, stride: is.count, inLast: is.count, trends: is.doubles,
    series: is.record(Object.fromEntries(SERIES.map((name) => [name, is.doubles]))),
  });
  const problem = fields(value, path);
  if (problem !== null) return problem;
  if (value.trends.length !== 4) return "trends";
  return SERIES.find((name) => value.series[name].length !== value.steps.length) ?? null;
};

/** @type {is.Check} edges between nodes that exist */
const graph = (value, path) => {
  const problem = is.record({
    name: is.text,
    nodes: is.listOf(is.record({
      name: is.text, op: is.text, scope: is.text,
      phase: is.oneOf("forward", "gradient", "update", "input", "variable"),
      device: is.nullable(is.text), shape: is.nullable(is.listOf(fraction)),
      dtype: is.nullable(is.text), line: fraction, attrs: is.mapOf(is.text),
    })),
    edges: is.listOf(is.record({ from: is.text, to: is.text, output: is.number, control: is.flag })),
  })(value, path);
  if (problem !== null) return problem;
  const names = new Set(value.nodes.map((/** @type {{name: string}} */ { name }) => name));
  const loose = value.edges.findIndex((/** @type {{from: string, to: string}} */ { from, to }) =>
    !names.has(from) || !names.has(to));
  return loose < 0 ? null : `edges.${loose}`;
};

/** Checks by the name of the part; that of "code" is for the code of one example. */
export const SHAPES = {
  code: is.text,
  choices: is.record({
    exampleId: is.text,
    device: is.oneOf("auto", "gpu", "cpu"),
    view: is.oneOf("training", "lab"),
    graphColours: is.oneOf("phase", "device"),
    lab: is.record({
      strategy: is.text, devices: is.count, micro_batches: is.count, schedule: is.text, chunks: is.count,
      collective: is.text, staleness: is.nullable(is.count), every: is.count, delays: is.listOf(is.number),
      steps: is.count,
    }),
  }),
  run: is.record({
    state: is.oneOf("idle", "running", "paused", "stopped", "done", "error"),
    program,
    fit: is.nullable(fit),
    progress: is.record({
      ...epochRow, stepsPerSecond: fraction, seconds: is.number, eta: fraction,
    }),
    epochs: is.listOf(is.record(epochRow)),
    error: is.nullable(error),
  }),
  curves: columns,
  output: is.listOf(is.record({ text: is.text, stream: is.oneOf("stdout", "stderr", "note") })),
  graph: is.nullable(graph),
  lab: is.listOf(is.record({
    id: is.count, colour: is.count, title: is.text, isSingle: is.flag, devices: is.count, state: is.text,
    program: is.text, example: is.text, device: is.nullable(is.text), isHeldUp: is.flag,
    msPerStep: fraction, loss: fraction, steps: is.listOf(is.number), losses: is.listOf(fraction),
    trace: is.nullable(trace), report,
  })),
  checkpoint: is.record({
    bytes: is.bytes, step: is.count, totalSteps: is.count, epoch: is.count, epochs: is.count,
    parameters: is.count, finished: is.flag, at: is.number, program,
    options: is.record({ devices: is.optional(is.count), lab: is.optional(labOptions) }),
  }),
};

/** @typedef {keyof typeof SHAPES} Shape */

/** The summary of a session, in the list of earlier work. */
export const SUMMARY = is.record({
  id: is.text, version: is.oneOf(1), created: is.number, saved: is.number, touched: is.flag,
  exampleId: is.text, title: is.text, edited: is.flag, state: is.text, step: is.count, totalSteps: is.count,
});
