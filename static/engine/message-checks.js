/**
 * Checks of the messages that a Python worker sends. A user's program runs in the same worker and
 * can call what the engine calls, so a message may have any content; the page drops it unless it
 * has the form that messages.js gives for its kind.
 */

/** @typedef {(value: any) => boolean} Check */

/** @type {Check} */
const text = (value) => typeof value === "string";
/** @type {Check} */
const number = (value) => typeof value === "number";
/** @type {Check} */
const count = (value) => Number.isInteger(value) && value >= 0;
/** @type {Check} */
const flag = (value) => typeof value === "boolean";
/** @type {Check} */
const bytes = (value) => value instanceof Uint8Array;
/** @type {Check} */
const shared = (value) => value instanceof SharedArrayBuffer;

/** @param {Check} check @returns {Check} */
const orNull = (check) => (value) => value === null || check(value);

/** @param {Check} check @returns {Check} */
const optional = (check) => (value) => value === undefined || check(value);

/** @param {...string} words @returns {Check} */
const oneOf = (...words) => (value) => words.includes(value);

/** @param {Check} check @returns {Check} */
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);

/** @param {...Check} checks @returns {Check} */
const tuple = (...checks) => (value) =>
  Array.isArray(value) && value.length === checks.length && checks.every((check, at) => check(value[at]));

/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {Check} check of each value @returns {Check} */
const tableOf = (check) => (value) => isObject(value) && Object.values(value).every(check);

/** @param {Record<string, Check>} fields @returns {Check} */
const object = (fields) => {
  const entries = Object.entries(fields);
  return (value) => isObject(value) && entries.every(([name, check]) => check(value[name]));
};

const STATES = oneOf("idle", "running", "paused", "stopped", "done", "error");

const errorFields = {
  type: text, message: text, line: orNull(count), op: orNull(text), traceback: optional(text),
};

const graph = object({
  name: text,
  nodes: listOf(object({
    name: text, op: text, scope: text,
    phase: oneOf("forward", "gradient", "update", "input", "variable"),
    device: orNull(text), shape: orNull(listOf(orNull(number))), dtype: orNull(text),
    line: orNull(count), attrs: tableOf(text),
  })),
  edges: listOf(object({ from: text, to: text, output: number, control: flag })),
});

const choices = listOf(object({ name: text, title: text, about: text, uses: optional(listOf(text)) }));

const report = object({
  updates: optional(tableOf(number)), staleness: optional(tableOf(number)),
  mean_staleness: optional(number), lost: optional(tableOf(text)),
});

const timeline = object({
  steps: count, seconds: number, bubble: number, communication: number, bytes_moved: number,
  devices: listOf(object({
    device: text, kinds: tableOf(number), idle: number, sent: number, received: number,
  })),
});

const traceEvents = listOf(object({
  name: text, device: text, start: number, end: number, kind: text, bytes: number,
}));

const placement = object({
  headline: text, seconds: number, seconds_alone: number, bytes_moved: number,
  rows: listOf(object({ scope: text, nodes: listOf(text), device: text, reason: text })),
});

/** A check of each field, for each kind of message. @type {Record<string, Record<string, Check>>} */
const FIELDS = {
  alive: {},
  loading: {
    stage: oneOf("python", "library"), problem: optional(text),
    progress: optional(orNull(object({ received: count, total: count }))),
  },
  ready: { version: text, python: text, numpy: text, timings: tableOf(number) },
  tunings: { text },
  data_file: { path: text, answer: shared, into: optional(shared) },
  crash: { message: text },
  device_worker: {
    device: (name) => /^(cpu|gpu):\d+$/.test(name), state: oneOf("starting", "lost"), channel: count,
    reply: optional(shared), message: optional(text),
  },
  status: { state: STATES },
  stdout: { text, left_out: optional(count), end: optional(text) },
  stderr: { text, left_out: optional(count), end: optional(text) },
  error: errorFields,
  fit_begin: {
    epochs: count, steps_per_epoch: count, total_steps: count, batch_size: count,
    metrics: listOf(text), device: text, adapter: orNull(text), parameters: count,
    done: count,
  },
  progress: {
    epoch: count, step: count, total_steps: count,
    points: listOf(tuple(number, number, orNull(number))),
    steps_per_second: number, seconds: number, eta_seconds: orNull(number),
  },
  epoch_end: {
    epoch: count, step: count, loss: number, accuracy: orNull(number),
    test_loss: orNull(number), test_accuracy: orNull(number), seconds: number,
  },
  fit_end: {
    reason: oneOf("completed", "stopped", "failed"), steps: count, seconds: number,
    test_accuracy: orNull(number), dispatches_per_step: number, parallel: report,
  },
  checkpoint: {
    bytes, step: count, total_steps: count, epoch: count, epochs: count, parameters: count,
    finished: flag,
  },
  graph: { graph },
  lab_choices: { strategies: choices, schedules: choices, collectives: choices, details: choices },
  lab_fit: { title: text, devices: count, single: flag, held_up: flag },
  trace: {
    seconds: number, steps: count, timeline, events: traceEvents, bubble_formula: orNull(number),
    memory: tableOf(number),
  },
  tuning: { kernels: tableOf(text), measured: flag, wanted: flag },
  reply: {
    id: count, ok: flag, filename: optional(text), bytes: optional(bytes),
    names: optional(listOf(text)), probabilities: optional(listOf(number)), label: optional(number),
    placement: optional(placement), graph: optional(graph),
  },
};

/** Messages that only JavaScript sends: Python's, which a program can forge, are of other kinds. */
const SENT_BY_JAVASCRIPT = new Set([
  "alive", "loading", "ready", "tunings", "data_file", "crash", "device_worker",
]);

/** Whether Python may send messages of a kind. @param {unknown} kind */
export const isForPython = (kind) => !SENT_BY_JAVASCRIPT.has(/** @type {string} */ (kind));

/** The fields of a reply that is not an answer. @type {Record<string, Check>} */
const FAILURE = { id: count, ok: (value) => value === false, error: object(errorFields) };

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
  return fields !== undefined && Object.entries(fields).every(([name, check]) => check(message[name]));
}
