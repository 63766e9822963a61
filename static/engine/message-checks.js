/**
 * Checks of the messages that a Python worker sends. A user's program runs in the same worker and
 * can call what the engine calls, so a message may have any content; the page drops it unless it
 * has the form of its kind. The forms of Python's messages come from its records; the forms of the
 * worker's JavaScript are here.
 */

import {
  bytes,
  count,
  isObject,
  listOf,
  flag,
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
import { kindOf } from "./kinds.js";
import { ANSWERS, EVENTS, FORMS } from "./python-messages.js";

/** @import { Check } from "./forms.js" */
/** @import { Form } from "./python-messages.js" */

/** Workers that a page starts for one Python. */
const MOST_THREADS = 16;
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

/** The conditions of a record beyond the forms of its fields. @type {Record<string, Check>} */
const BESIDES = {
  PlotSeries: ({ x, y }) => x.length === y.length && x.length % 8 === 0,
  PlottedImage: ({ width, height, png }) => width > 0 && height > 0 && isDrawable(png),
  Pictures: ({ count, height, width, channels, pixels }) =>
    count > 0 && height > 0 && width > 0 && pixels.length === count * height * width * channels,
  HistogramSeries: ({ steps, sizes, spreads, strays }) =>
    [sizes, spreads, strays].every((each) => each.length === steps.length),
};

const PLAIN = { text, flag, count, number, bytes, null: oneOf(null), any: () => true };

/** Checks of records that were asked for. @type {Map<string, Check>} */
const made = new Map(Object.entries(PLAIN));

/** The check of a form, or of the record with this name. @param {Form} form @returns {Check} */
export function checkOf(form) {
  if (typeof form === "string") {
    let check = made.get(form);
    if (!check) {
      const [fields, besides] = [checkOf(FORMS[form]), BESIDES[form]];
      check = besides ? (value) => fields(value) && besides(value) : fields;
      made.set(form, check);
    }
    return check;
  }
  if (!Array.isArray(form)) return record(fieldsOf(form));
  const [kind, ...parts] = form;
  if (kind === "one") return oneOf(...parts);
  const checks = parts.map(checkOf);
  if (kind === "or") return (value) => checks.some((check) => check(value));
  if (kind === "tuple") return tuple(...checks);
  return kind === "map" ? mapOf(checks[0]) : listOf(checks[0]);
}

/** The checks of the fields of a record, or of the one with this name. @param {Form} form @returns {Record<string, Check>} */
export function fieldsOf(form) {
  const fields = Object.entries(typeof form === "string" ? FORMS[form] : form);
  return Object.fromEntries(
    fields.map(([name, part]) =>
      name.endsWith("?") ? [name.slice(0, -1), optional(checkOf(part))] : [name, checkOf(part)],
    ),
  );
}

const sentence = {
  message: text,
  code: text,
  values: mapOf((value) => text(value) || number(value)),
};
const delay = record({ ...sentence, seconds: count, isMissing: flag });
/** @type {Check} */
const code = (value) => value instanceof WebAssembly.Module;

/** @type {Check} */
const port = (value) => value instanceof MessagePort;

/** Messages that only JavaScript sends: Python's, which a program can forge, are of other kinds. @type {Record<string, Check>} */
const OF_JAVASCRIPT = {
  alive: record({}),
  loading: record({
    stage: oneOf("python", "library"),
    problem: optional(nullable(delay)),
    progress: optional(
      nullable(record({ received: count, total: count, seconds: nullable(number) })),
    ),
  }),
  ready: record({
    version: text,
    python: text,
    numpy: text,
    isRestored: flag,
    isQuick: flag,
    timings: mapOf(number),
  }),
  template: record({
    template: record({ code, libraries: mapOf(code), image: bytes, runtime: mapOf(bytes) }),
  }),
  tunings: record({ text }),
  data_file: record({
    path: text,
    answer: shared,
    into: optional(shared),
    beside: optional(listOf(text)),
  }),
  threads: record({ ports: listOf(port, MOST_THREADS) }),
  crash: record({ message: text, problem: optional(record(sentence)) }),
  device_worker: record({
    device: (name) => /^[a-z]+:\d+$/.test(name) && kindOf(name) !== undefined,
    state: oneOf("starting", "lost"),
    channel: count,
    reply: optional(shared),
    message: optional(text),
  }),
};

/** Whether Python may send messages of a kind. @param {any} kind */
export const isForPython = (kind) => !Object.hasOwn(OF_JAVASCRIPT, kind);

const failure = record({ id: count, ok: oneOf(false), error: checkOf("ErrorInfo") });

/** @param {any} reply */
const isReply = (reply) =>
  failure(reply) ||
  (reply.ok === true &&
    count(reply.id) &&
    Object.hasOwn(ANSWERS, reply.question) &&
    checkOf(ANSWERS[reply.question])(reply.answer));

/**
 * Whether a message has the form that its kind requires.
 * @param {any} message
 * @returns {boolean}
 */
export function isWellFormed(message) {
  if (!isObject(message) || typeof message.kind !== "string") return false;
  if (message.kind === "reply") return isReply(message);
  if (Object.hasOwn(EVENTS, message.kind)) return checkOf(EVENTS[message.kind])(message);
  return Object.hasOwn(OF_JAVASCRIPT, message.kind) && OF_JAVASCRIPT[message.kind](message);
}
