/** Changes of a program that mend what is wrong with a card, with the words of their buttons. */

import { t } from "../words/locale.js";
import { argumentOf } from "./calls.js";
import { LOSSES, entryOf } from "./catalogue.js";
import { changesByLine, nameFor, setArgument, setClass } from "./edits.js";
import { quoted, titleOf } from "./field-values.js";
import { applyChanges } from "./lists.js";
import { fittingMetrics, metricOf, metricsOf } from "./metrics.js";
import { readProgram } from "./reader.js";
import { addLayer } from "./structure.js";

/** @import { Call, Change, Item, LayerMend, Mend, Network, Program, Training } from "./types.js" */

/** @typedef {typeof LOSSES[number]["kind"]} LossKind */
/** @typedef {(program: Program) => Change[]} Step */

/** The activation whose probabilities a loss takes instead of scores. @type {Record<string, string>} */
const PROBABILITIES = {
  SparseCategoricalCrossentropy: "softmax",
  CategoricalCrossentropy: "softmax",
  BinaryCrossentropy: "sigmoid",
};

/** The changes of several steps, each in the program that the one before it left. @param {Program} program @param {Step[]} steps */
export function inSteps(program, steps) {
  let current = program;
  for (const step of steps) {
    const changes = step(current);
    if (changes.length > 0) current = readProgram(applyChanges(current.text, changes));
  }
  return changesByLine(program.text, current.text);
}

/** The layer that computes the results: a last softmax only changes their scale. @param {Network} network @returns {Item | null} */
export const outputOf = ({ items }) =>
  items.findLast(({ call }) => call?.kind !== "Softmax" && call?.kind !== "Activation") ?? null;

/** The network that a training is of. @param {Program} program @param {Training} training */
export const networkOf = ({ networks }, training) =>
  networks.find(({ name, scope }) => name === training.name && scope === training.scope) ?? null;

/** Another value of a parameter. @param {Program} program @param {Call} call @param {string} parameter @param {string} value @returns {Mend[]} */
export function setValue(program, call, parameter, value) {
  const given = argumentOf(call, parameter);
  if (call.starred || (given && !given.literal)) return [];
  const label = labelOf(call, parameter);
  return mend(t().blocks.mends.set(label ?? parameter, titleOf(value)), [
    ...setArgument(program, call, parameter, quoted(value, program.text)),
  ]);
}

/** Fields of the training card. @type {Record<string, import("./catalogue.js").Label>} */
const TRAINING = { batch_size: "batchSize", epochs: "epochs", learning_rate: "learningRate" };

/** The name of a parameter's field. @param {Call} call @param {string} parameter */
function labelOf(call, parameter) {
  const field = entryOf(call.kind)?.fields.find((each) => each.parameter === parameter);
  const label = field?.label ?? TRAINING[parameter];
  return label && t().blocks.fields[label];
}

/** @param {string} words @param {Change[]} changes @returns {Mend[]} */
const mend = (words, changes) => (changes.length > 0 ? [{ words, changes }] : []);

/** The changes that make a layer fit. @param {Program} program @param {number} number of its network @param {number} index @param {LayerMend | null | undefined} how */
export function mendsOfLayer(program, number, index, how) {
  const network = program.networks[number];
  const { call } = network.items[index];
  if (!how || !call) return [];
  if ("set" in how) return setValue(program, call, ...how.set);
  const [kind, given] = how.before;
  const changes = addLayer(program, network, index, `nn.${kind}`, given);
  return mend(t().blocks.mends.before(`${kind}${given}`), changes ?? []);
}

/** As many outputs as there are classes or targets. @param {Program} program @param {Network} network @param {number} count @returns {Mend[]} */
export function setOutputs(program, network, count) {
  const units = unitsOf(network);
  if (!units) return [];
  const changes = setArgument(program, units, "units", String(count));
  return mend(t().blocks.mends.makeIt(count), changes);
}

/** The last layer, if it is one whose units can be set. @param {Network} network */
function unitsOf(network) {
  const call = outputOf(network)?.call;
  if (call?.kind !== "Dense" || call.starred) return null;
  const given = argumentOf(call, "units");
  return given && !given.literal ? null : call;
}

/**
 * Another loss, with the number of outputs, the last activation and the metrics that go with it.
 * @param {Program} program
 * @param {Training} training
 * @param {LossKind} kind
 * @param {number} [outputs]
 * @returns {Mend[]}
 */
export function setLoss(program, training, kind, outputs) {
  const number = program.trainings.indexOf(training);
  const network = networkOf(program, training);
  const given = argumentOf(training.compile, "loss");
  if (!training.compile || training.compile.starred || !network || number < 0) return [];
  if (given && !given.call && given.value?.type !== "string") return [];
  if (given?.call?.starred) return []; // nobody can tell what it passes
  if (outputs && !unitsOf(network)) return [];
  const at = program.networks.indexOf(network);
  const compile = (/** @type {Program} */ now) =>
    /** @type {Call} */ (now.trainings[number].compile);
  const output = (/** @type {Program} */ now) => unitsOf(now.networks[at]);
  const last = network.items.at(-1)?.call ?? null;
  const activation = String(argumentOf(last, "activation")?.value?.value ?? "").toLowerCase();
  const isSoftmax = last?.kind === "Softmax" || activation === "softmax";
  const isKept = PROBABILITIES[kind] === (isSoftmax ? "softmax" : activation);
  if (last?.kind === "Softmax" && !isKept) return [];
  const changes = inSteps(program, [
    (now) => lossOf(now, compile(now), kind),
    (now) => ofScores(now, compile(now), !isKept),
    (now) => fittingMetric(now, compile(now)),
    (now) => {
      const dense = output(now);
      return dense && !isKept ? setArgument(now, dense, "activation", "None") : [];
    },
    (now) => {
      const dense = output(now);
      return dense && outputs ? setArgument(now, dense, "units", String(outputs)) : [];
    },
  ]);
  const title = t().blocks.training.losses[kind];
  const words = t().blocks.mends;
  const isOther = outputs && unitsText(network) !== String(outputs);
  return mend(isOther ? words.lossAndOutputs(title, outputs) : words.loss(title), changes);
}

/** Another class of loss, with the arguments and comments of the one before that it takes, too. @param {Program} program @param {Call} compile @param {LossKind} kind */
function lossOf(program, compile, kind) {
  const before = argumentOf(compile, "loss")?.call;
  if (before) return setClass(program, before, `nn.${kind}`);
  const { name, changes } = nameFor(program, `nn.${kind}`);
  return [...changes, ...setArgument(program, compile, "loss", `${name}()`)];
}

/** The change that tells a loss whether it gets scores, if it takes probabilities otherwise. @param {Program} program @param {Call} compile @param {boolean} areScores */
function ofScores(program, compile, areScores) {
  const loss = argumentOf(compile, "loss")?.call;
  const entry = LOSSES.find(({ kind }) => kind === loss?.kind);
  if (!loss || !entry?.given.startsWith("from_logits")) return [];
  return setArgument(program, loss, "from_logits", areScores ? "True" : "False");
}

/** @param {Network} network */
const unitsText = (network) => argumentOf(unitsOf(network), "units")?.text;

/** Metrics that do not go with the loss give way to the first that does. @param {Program} program @param {Call} compile */
function fittingMetric(program, compile) {
  const names = metricsOf(compile);
  const fitting = fittingMetrics(compile).map(({ name }) => String(name));
  if (!names || names.length === 0) return [];
  const left = names.filter((name) => fitting.includes(metricOf(name)));
  if (left.length === names.length) return [];
  const next = left.length > 0 ? left : fitting.slice(0, 1);
  const quote = /'/.test(argumentOf(compile, "metrics")?.text ?? "") ? "'" : '"';
  const list = `[${next.map((name) => quote + name + quote).join(", ")}]`;
  return setArgument(program, compile, "metrics", list);
}
