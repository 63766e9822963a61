/**
 * Checks of the messages that a Python worker sends. A user's program runs in the same worker and
 * can call what the engine calls, so a message may have any content; the page drops it unless it
 * has the form that messages.js gives for its kind.
 */

import {
  bytes,
  count,
  flag,
  isObject,
  listOf,
  mapOf,
  nullable,
  number,
  oneOf,
  optional,
  record,
  shared,
  text,
  tuple,
} from "./forms.js";

/** @import { Check } from "./forms.js" */

export const STATES = oneOf("idle", "running", "paused", "stopped", "done", "error");

export const errorFields = {
  type: text,
  message: text,
  line: nullable(count),
  op: nullable(text),
  traceback: optional(text),
};

export const graph = record({
  name: text,
  nodes: listOf(
    record({
      name: text,
      op: text,
      scope: text,
      phase: oneOf("forward", "gradient", "update", "input", "variable"),
      device: nullable(text),
      shape: nullable(listOf(nullable(number))),
      dtype: nullable(text),
      line: nullable(count),
      attrs: mapOf(text),
    }),
  ),
  edges: listOf(record({ from: text, to: text, output: number, control: flag })),
});

const sentence = {
  message: text,
  code: text,
  values: mapOf((value) => text(value) || number(value)),
};
const delay = record({ ...sentence, seconds: count, isMissing: flag });

const choices = listOf(
  record({ name: text, title: text, about: text, uses: optional(listOf(text)) }),
);

export const report = record({
  updates: optional(mapOf(number)),
  staleness: optional(mapOf(number)),
  mean_staleness: optional(number),
  lost: optional(mapOf(text)),
  overlap: optional(text),
});

export const timeline = record({
  steps: count,
  seconds: number,
  bubble: number,
  communication: number,
  bytes_moved: number,
  devices: listOf(
    record({
      device: text,
      kinds: mapOf(number),
      idle: number,
      sent: number,
      received: number,
    }),
  ),
});

export const traceEvents = listOf(
  record({
    name: text,
    device: text,
    start: number,
    end: number,
    kind: text,
    bytes: number,
  }),
);

const execution = record({
  duration: number,
  left_out: count,
  clocks: mapOf(text),
  round_trips: mapOf(number),
  chrome: text,
  events: listOf(
    record({
      name: text,
      device: text,
      start: number,
      end: number,
      kind: text,
      bytes: number,
      nodes: listOf(text),
      kernel: text,
    }),
  ),
});

const sights = listOf(
  record({ name: text, shape: listOf(number), dtype: text, statistics: mapOf(nullable(number)) }),
);
const operations = record({
  left_out: count,
  passes: listOf(record({ name: text, before: count, after: count })),
  operations: listOf(
    record({
      name: text,
      op: text,
      device: text,
      members: listOf(text),
      waits_for: count,
      ready: listOf(count),
      released: listOf(tuple(count, count, count)),
      inputs: sights,
      outputs: sights,
      dispatch: nullable(count),
      kernel: text,
    }),
  ),
});

const pictures = record({
  title: text,
  count,
  height: count,
  width: count,
  channels: oneOf(1, 3, 4),
  low: number,
  high: number,
  scale: oneOf("grey", "diverging", "colour"),
  note: text,
  pixels: bytes,
});
const plot = record({
  title: text,
  style: oneOf("line", "points"),
  x_label: text,
  y_label: text,
  series: listOf(record({ label: text, x: bytes, y: bytes, total: count })),
});
const image = record({
  title: text,
  width: count,
  height: count,
  axes: listOf(
    record({
      title: text,
      x_label: text,
      y_label: text,
      labels: listOf(text),
      lines: count,
      images: count,
      points: count,
      shapes: count,
    }),
  ),
  png: bytes,
});

/** The first bytes of a PNG; its width and height follow. */
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
/** An image may unpack to far more than it takes. */
const MOST_PNG_PIXELS = 1 << 23;

/** @param {Uint8Array} png */
function isDrawable(png) {
  if (png.length < PNG.length + 8 || PNG.some((byte, at) => png[at] !== byte)) return false;
  const view = new DataView(png.buffer, png.byteOffset + PNG.length, 8);
  const pixels = view.getUint32(0) * view.getUint32(4);
  return pixels > 0 && pixels <= MOST_PNG_PIXELS;
}

export const settingFields = { step: count, name: text, before: number, after: number };

/** Pictures with a byte for each value, series with as many x as y, or an image that can be drawn. @type {Check} */
export const figure = (value) => {
  if (value?.shows === "plot") {
    return (
      plot(value) &&
      value.series.every(
        (/** @type {{x: Uint8Array, y: Uint8Array}} */ { x, y }) =>
          x.length === y.length && x.length % 8 === 0,
      )
    );
  }
  if (value?.shows === "image")
    return image(value) && value.width > 0 && value.height > 0 && isDrawable(value.png);
  return (
    value?.shows === "pictures" &&
    pictures(value) &&
    value.count > 0 &&
    value.height > 0 &&
    value.width > 0 &&
    value.pixels.length === value.count * value.height * value.width * value.channels
  );
};

const values = mapOf((value) => text(value) || number(value));

export const finding = record({
  code: text,
  node: nullable(text),
  line: nullable(count),
  values,
  edit: nullable(
    record({
      code: text,
      values,
      changes: listOf(
        record({
          line: count,
          column: count,
          end_line: count,
          end_column: count,
          old: text,
          text,
        }),
      ),
    }),
  ),
});

/** @type {Check} */
const code = (value) => value instanceof WebAssembly.Module;

const placement = record({
  headline: text,
  seconds: number,
  seconds_alone: number,
  bytes_moved: number,
  rows: listOf(record({ scope: text, nodes: listOf(text), device: text, reason: text })),
});

const expectedFields = { token: text, chance: number };
const viewFacts = { version: count, seconds: number };
const targeted = record({ points: bytes, targets: bytes, total: count });

/** Checks of the views of a task, by what they show. @type {Record<string, Check>} */
const VIEWS = {
  none: record(viewFacts),
  unknown: record(viewFacts),
  plane: record({
    ...viewFacts,
    outputs: bytes,
    layers: listOf(record({ name: text, units: count, side: count, maps: bytes })),
    data: optional(
      record({
        side: count,
        across: tuple(number, number),
        up: tuple(number, number),
        scale: text,
        classes: count,
        train: targeted,
        test: nullable(targeted),
      }),
    ),
  }),
  images: record({
    ...viewFacts,
    predicted: listOf(number),
    chances: nullable(listOf(number)),
    data: optional(
      record({
        height: count,
        width: count,
        channels: oneOf(1, 3),
        pixels: bytes,
        labels: listOf(number),
        tested: flag,
        total: count,
      }),
    ),
  }),
  classes: record({
    ...viewFacts,
    predicted: listOf(number),
    data: optional(record({ labels: listOf(number), classes: count, tested: flag, total: count })),
  }),
  rows: record({
    ...viewFacts,
    predicted: bytes,
    error: number,
    explained: nullable(number),
    data: optional(record({ truth: bytes, tested: flag, total: count })),
  }),
  text: record({
    ...viewFacts,
    prompt: text,
    predicted: text,
    problem: nullable(text),
    expected: listOf(record(expectedFields)),
    data: optional(
      record({ prompt: text, unit: oneOf("character", "word"), tokens: count, least: count }),
    ),
  }),
};

const numbers = listOf(nullable(number));
const histograms = record({
  reason: nullable(oneOf("untrained", "data", "large", "restored")),
  steps: listOf(count),
  left_out: count,
  pending: count,
  seconds: number,
  layers: listOf(
    record({
      name: text,
      ratios: numbers,
      series: listOf(
        (value) =>
          histogramSeries(value) &&
          [value.sizes, value.spreads, value.strays].every(
            (each) => each.length === value.steps.length,
          ),
      ),
    }),
  ),
});
const histogramSeries = record({
  kind: oneOf("weights", "gradients", "activations"),
  steps: listOf(count),
  range: number,
  counts: bytes,
  sizes: numbers,
  spreads: numbers,
  strays: listOf(count),
});

/** @type {Check} */
const task = (value) =>
  isObject(value) && Object.hasOwn(VIEWS, value.shows) && VIEWS[value.shows](value);

const layersView = record({
  seconds: number,
  layer: text,
  scaled: listOf(record({ layer: text, unit: count, factor: number })),
  lines: listOf(
    record({
      name: text,
      type: text,
      shape: listOf(nullable(number)),
      parameters: number,
      line: nullable(count),
    }),
  ),
  weights: listOf(
    record({
      name: text,
      shape: listOf(number),
      mean: number,
      deviation: number,
      smallest: number,
      largest: number,
      norm: number,
      zeros: number,
      layout: oneOf("filters", "matrix"),
      rows: count,
      columns: count,
      height: count,
      width: count,
      values: bytes,
      units: listOf(number),
      total_units: count,
      inputs: count,
      total_inputs: count,
      norms: listOf(number),
    }),
  ),
  result: nullable(
    record({
      shape: listOf(number),
      units: listOf(number),
      total_units: count,
      height: count,
      width: count,
      values: bytes,
      change: bytes,
    }),
  ),
  sample: nullable(
    record({
      number: nullable(count),
      count,
      tested: nullable(flag),
      target: nullable(number),
      decision: nullable(number),
      decision_before: nullable(number),
      outputs: listOf(number),
      outputs_before: listOf(number),
      picture: nullable(
        record({ height: count, width: count, channels: oneOf(1, 3), pixels: bytes }),
      ),
      values: nullable(bytes),
      low: number,
      high: number,
      whole: flag,
      tokens: nullable(listOf(text)),
    }),
  ),
  effect: nullable(record({ samples: count, before: mapOf(number), after: mapOf(number) })),
  travel: nullable(listOf(record({ name: nullable(text), ratio: nullable(number) }))),
});

const noSamples = record({
  reason: oneOf("restored", "data", "program", "loss", "targets", "outputs", "layers"),
  seconds: number,
});
const sampleData = record({
  tested: nullable(flag),
  total: count,
  classes: count,
  numbers: bytes,
  truth: bytes,
  texts: nullable(listOf(text)),
  pictures: nullable(record({ height: count, width: count, channels: oneOf(1, 3), pixels: bytes })),
  rows: nullable(record({ columns: count, all: count, values: bytes })),
});
const verdicts = { predicted: bytes, chances: nullable(bytes), losses: bytes };
const judgedFields = { ...viewFacts, ...verdicts, data: optional(sampleData) };
const judged = record(judgedFields);
const projected = record({
  ...judgedFields,
  layer: text,
  layers: listOf(record({ name: text, size: count })),
  projected: count,
  rows: bytes,
  dimensions: count,
  points: bytes,
  explained: listOf(number),
});

/** @type {Check} */
const samples = (value) =>
  value?.shows === "none" ? noSamples(value) : value?.shows === "samples" && judged(value);
/** @type {Check} */
const projection = (value) =>
  value?.shows === "none" ? noSamples(value) : value?.shows === "points" && projected(value);

const sampleNumber = record({ number: count, count, tested: nullable(flag) });
const single = record({ ...verdicts, sample: sampleNumber, seconds: number, data: sampleData });
/** @type {Check} */
const oneSample = (value) =>
  value?.shows === "none" ? noSamples(value) : value?.shows === "sample" && single(value);
const noAttention = record({
  reason: oneOf("restored", "data", "program", "attention"),
  seconds: number,
});
const attentionMaps = record({
  seconds: number,
  layers: listOf(record({ name: text, heads: count })),
  layer: text,
  sample: sampleNumber,
  total: record({ heads: count, queries: count, keys: count }),
  heads: count,
  queries: count,
  keys: count,
  query_tokens: nullable(listOf(text)),
  key_tokens: nullable(listOf(text)),
  weights: bytes,
});
/** @type {Check} */
const attention = (value) =>
  value?.shows === "none" ? noAttention(value) : value?.shows === "maps" && attentionMaps(value);

const noNextTokens = record({ reason: oneOf("restored", "untrained", "text"), seconds: number });
const expectedTokens = record({
  seconds: number,
  unit: oneOf("character", "word"),
  least: count,
  length: count,
  sample: sampleNumber,
  text,
  total: count,
  tokens: listOf(text),
  perplexity: nullable(number),
  problem: nullable(text),
  predictions: listOf(
    record({
      position: count,
      top: listOf(record(expectedFields)),
      came: nullable(record({ ...expectedFields, rank: count })),
    }),
  ),
});
/** @type {Check} */
const nextTokens = (value) =>
  value?.shows === "none"
    ? noNextTokens(value)
    : value?.shows === "tokens" && expectedTokens(value);

const unavailable = record({ code: text, values });

const summary = record({
  shape: listOf(count),
  dtype: text,
  count,
  statistics: mapOf(nullable(number)),
  histogram: nullable(record({ low: number, high: number, counts: listOf(count), sampled: flag })),
  grid: record({
    values: bytes,
    rows: listOf(count),
    columns: listOf(count),
    total_rows: count,
    total_columns: count,
  }),
});

const node = record({
  outputs: count,
  samples: nullable(count),
  test_samples: nullable(count),
  summary: nullable(summary),
  problem: nullable(unavailable),
  seconds: number,
});

const nodes = record({
  matches: listOf(tuple(text, number)),
  total: count,
  checked: count,
  skipped: count,
  problem: nullable(unavailable),
  seconds: number,
});

const nodeKernel = record({
  kernel: nullable(
    record({
      device: text,
      within: nullable(text),
      fused: listOf(text),
      total: count,
      commands: listOf(
        record({
          family: text,
          workgroups: listOf(count),
          nodes: listOf(text),
          wgsl: text,
          length: count,
        }),
      ),
    }),
  ),
  problem: nullable(unavailable),
});

const kernelBench = record({
  opened: nullable(
    record({ adapter: text, of_run: flag, nodes: listOf(text), kernels: listOf(text) }),
  ),
  report: nullable(
    record({
      passed: flag,
      samples: listOf(record({ name: text, problem: nullable(text) })),
      others: count,
      error: nullable(text),
      line: nullable(count),
    }),
  ),
  times: nullable(
    record({
      before: number,
      after: number,
      limit: number,
      moved: count,
      operations: count,
      runs: count,
      error: nullable(text),
    }),
  ),
  problem: nullable(unavailable),
});

const nodeTime = record({
  measured: nullable(record({ seconds: number, runs: count, device: text })),
  problem: nullable(unavailable),
});

const points = listOf(tuple(number, number, nullable(number)));

/** A check of each field, for each kind of message. @type {Record<string, Record<string, Check>>} */
const FIELDS = {
  alive: {},
  loading: {
    stage: oneOf("python", "library"),
    problem: optional(nullable(delay)),
    progress: optional(
      nullable(record({ received: count, total: count, seconds: nullable(number) })),
    ),
  },
  ready: { version: text, python: text, numpy: text, timings: mapOf(number) },
  template: {
    template: record({ code, libraries: mapOf(code), image: bytes, runtime: mapOf(bytes) }),
  },
  tunings: { text },
  data_file: {
    path: text,
    answer: shared,
    into: optional(shared),
    beside: optional(listOf(text)),
  },
  crash: { message: text, problem: optional(record(sentence)) },
  device_worker: {
    device: (name) => /^(cpu|gpu):\d+$/.test(name),
    state: oneOf("starting", "lost"),
    channel: count,
    reply: optional(shared),
    message: optional(text),
  },
  status: { state: STATES, built: optional(flag) },
  stdout: { text, left_out: optional(count), end: optional(text) },
  stderr: { text, left_out: optional(count), end: optional(text) },
  figure: { figure },
  error: errorFields,
  fit_begin: {
    epochs: count,
    steps_per_epoch: count,
    total_steps: count,
    batch_size: count,
    metrics: listOf(text),
    device: text,
    device_reason: text,
    adapter: nullable(text),
    parameters: count,
    done: count,
    points: optional(points),
  },
  progress: {
    epoch: count,
    step: count,
    total_steps: count,
    points,
    steps_per_second: number,
    seconds: number,
    eta_seconds: nullable(number),
  },
  epoch_end: {
    epoch: count,
    step: count,
    loss: number,
    accuracy: nullable(number),
    test_loss: nullable(number),
    test_accuracy: nullable(number),
    seconds: number,
  },
  fit_end: {
    reason: oneOf("completed", "stopped", "failed"),
    steps: count,
    seconds: number,
    test_accuracy: nullable(number),
    dispatches_per_step: number,
    parallel: report,
  },
  checkpoint: {
    bytes,
    step: count,
    total_steps: count,
    epoch: count,
    epochs: count,
    parameters: count,
    finished: flag,
  },
  setting: settingFields,
  graph: { graph },
  doctor: { findings: listOf(finding), lost: flag },
  lab_choices: { strategies: choices, schedules: choices, collectives: choices, details: choices },
  lab_fit: { title: text, devices: count, single: flag, held_up: flag },
  trace: {
    seconds: number,
    steps: count,
    timeline,
    events: traceEvents,
    bubble_formula: nullable(number),
    memory: mapOf(number),
  },
  tuning: { kernels: mapOf(text), measured: flag, wanted: flag },
  reply: {
    id: count,
    ok: flag,
    filename: optional(text),
    bytes: optional(bytes),
    names: optional(listOf(text)),
    probabilities: optional(listOf(number)),
    label: optional(number),
    placement: optional(placement),
    graph: optional(graph),
    execution: optional(execution),
    operations: optional(operations),
    task: optional(task),
    histograms: optional(histograms),
    layers: optional(layersView),
    samples: optional(samples),
    one_sample: optional(oneSample),
    projection: optional(projection),
    attention: optional(attention),
    next_tokens: optional(nextTokens),
    node: optional(node),
    nodes: optional(nodes),
    node_kernel: optional(nodeKernel),
    node_time: optional(nodeTime),
    bench: optional(kernelBench),
    outcome: optional(oneOf("done", "error", "interrupted")),
    completions: optional(listOf(record({ label: text, type: text }))),
  },
};

/** Messages that only JavaScript sends: Python's, which a program can forge, are of other kinds. */
const SENT_BY_JAVASCRIPT = new Set([
  "alive",
  "loading",
  "ready",
  "template",
  "tunings",
  "data_file",
  "crash",
  "device_worker",
]);

/** Whether Python may send messages of a kind. @param {unknown} kind */
export const isForPython = (kind) => !SENT_BY_JAVASCRIPT.has(/** @type {string} */ (kind));

/** The fields of a reply that is not an answer. @type {Record<string, Check>} */
const FAILURE = { id: count, ok: (value) => value === false, error: record(errorFields) };

/** @param {any} message @returns {Record<string, Check> | undefined} */
function fieldsOf(message) {
  if (!isObject(message) || !Object.hasOwn(FIELDS, message.kind)) return undefined;
  return message.kind === "reply" && message.ok !== true ? FAILURE : FIELDS[message.kind];
}

/**
 * Whether a message has the form that its kind requires.
 * @param {any} message
 * @returns {boolean}
 */
export function isWellFormed(message) {
  const fields = fieldsOf(message);
  return (
    fields !== undefined && Object.entries(fields).every(([name, check]) => check(message[name]))
  );
}
