/** Problems of a training that can be seen before it runs: outputs and loss against the targets, numbers out of bounds. */

import { t } from "../words/locale.js";
import { argumentOf, valueOf } from "./calls.js";
import { mendsOfLayer, networkOf, outputOf, setLoss, setOutputs, setValue } from "./mends.js";
import { isNumber } from "./syntax.js";

/** @import { Inferred } from "./shapes.js" */
/** @import { Network, Problem, Program, Training } from "./types.js" */

/** Losses by their names in programs. @type {Record<string, string>} */
const KINDS = {
  sparsecategoricalcrossentropy: "sparse",
  categoricalcrossentropy: "categorical",
  binarycrossentropy: "binary",
  meansquarederror: "numbers",
  mse: "numbers",
  meanabsoluteerror: "numbers",
  mae: "numbers",
  huber: "numbers",
};

/** The purpose of a training's loss; "" if that is not known. @param {Training} training */
export function purposeOf({ compile }) {
  const loss = argumentOf(compile, "loss");
  const name = loss?.call?.kind ?? loss?.value?.value;
  return (
    KINDS[
      String(name ?? "")
        .toLowerCase()
        .replaceAll("_", "")
    ] ?? ""
  );
}

/** The card of a network's item. @param {Program} program @param {Network} network @param {number} index */
export const cardOf = (program, network, index) =>
  `block-${program.networks.indexOf(network)}-${index}`;

/** The card of a training. @param {Program} program @param {Training} training */
export const trainingCard = (program, training) =>
  `training-${program.trainings.indexOf(training)}`;

/**
 * All that is wrong with the cards of a program.
 * @param {Program} program
 * @param {Map<number, Inferred>} shapes
 * @returns {Problem[]}
 */
export function problemsOf(program, shapes) {
  const layers = program.networks.flatMap((network, number) =>
    network.items.flatMap(({ id }, index) => {
      const { problem = "", mend = null } = shapes.get(id) ?? {};
      if (!problem) return [];
      const mends = mendsOfLayer(program, number, index, mend);
      return [{ card: `block-${number}-${index}`, words: problem, mends }];
    }),
  );
  const trainings = program.trainings.flatMap((training) => [
    ...numberProblems(program, training),
    ...(layers.length === 0 ? objectiveProblem(program, training, shapes) : []),
  ]);
  return [...layers, ...trainings];
}

/** Numbers of a training with which it cannot begin. @param {Program} program @param {Training} training @returns {Problem[]} */
function numberProblems(program, training) {
  const { fit, optimizer } = training;
  const card = trainingCard(program, training);
  const words = t().blocks.problems;
  /** @type {Problem[]} */
  const problems = [];
  for (const [parameter, label, fallback] of /** @type {const} */ ([
    ["batch_size", "batchSize", "32"],
    ["epochs", "epochs", "1"],
  ])) {
    const value = fit && argumentOf(fit, parameter)?.value;
    if (!fit || !value || value.type === "none") continue;
    if (value.type === "int" && value.value >= 1) continue;
    const mends = setValue(program, fit, parameter, fallback);
    problems.push({ card, parameter, words: words.count(t().blocks.fields[label]), mends });
  }
  const rate = optimizer && valueOf(optimizer, "learning_rate");
  if (optimizer && isNumber(rate) && !(rate.value > 0 && rate.value < Infinity)) {
    const mends = setValue(program, optimizer, "learning_rate", "0.001");
    problems.push({ card, parameter: "learning_rate", words: words.rate, mends });
  }
  return problems;
}

/**
 * A loss, or a number of outputs, that does not fit targets that are known.
 * @param {Program} program
 * @param {Training} training
 * @param {Map<number, Inferred>} shapes
 * @returns {Problem[]}
 */
function objectiveProblem(program, training, shapes) {
  if (training.isRecompiled) return [];
  const network = networkOf(program, training);
  const classes = network?.targets?.classes;
  const purpose = purposeOf(training);
  const shape = network && shapes.get(network.items.at(-1)?.id ?? -1)?.shape;
  const output = network && outputOf(network);
  if (!network || !output || !shape || classes === undefined || !purpose) return [];
  const words = t().blocks.problems;
  const card = cardOf(program, network, network.items.indexOf(output));
  const ofLoss = { card: trainingCard(program, training), parameter: "loss" };
  if (shape.length > 1) return flattened(program, network, shapes);
  const outputs = shape[0] ?? 1;
  if (classes === 0) {
    if (purpose === "numbers")
      return outputs === 1
        ? []
        : [{ card, words: words.oneTarget(outputs), mends: setOutputs(program, network, 1) }];
    const mends = setLoss(program, training, "MeanSquaredError", 1);
    return [{ ...ofLoss, words: words.numbersForClasses, mends }];
  }
  const sparse = () => setLoss(program, training, "SparseCategoricalCrossentropy", classes);
  if (purpose === "sparse" && outputs !== classes) {
    const mends = setOutputs(program, network, classes);
    return [{ card, words: words.outputs(outputs, classes), mends }];
  }
  if (purpose === "categorical") return [{ ...ofLoss, words: words.classNumbers, mends: sparse() }];
  if (purpose === "binary" && classes > 2)
    return [{ ...ofLoss, words: words.moreThanTwo(classes), mends: sparse() }];
  if ((purpose === "binary" || purpose === "numbers") && outputs !== 1) {
    const mends = [...sparse(), ...setOutputs(program, network, 1)];
    return [{ card, words: words.oneNumber(outputs), mends }];
  }
  return [];
}

/**
 * A network that gives a result for each row of an image, where samples have one target.
 * @param {Program} program
 * @param {Network} network
 * @param {Map<number, Inferred>} shapes
 * @param {number} [unknown] the number of axes to take for samples whose shape is not known
 * @returns {Problem[]}
 */
export function flattened(program, network, shapes, unknown = 0) {
  const ranks = network.items.map(({ id }) => shapes.get(id)?.shape?.length ?? null);
  const index = network.items.findIndex(
    ({ call }, at) =>
      call?.kind === "Dense" &&
      ((at > 0 ? ranks[at - 1] : network.input?.shape.length) ?? unknown) > 1,
  );
  if (index < 0) return [];
  const number = program.networks.indexOf(network);
  const mends = mendsOfLayer(program, number, index, { before: ["Flatten", ""] });
  return [{ card: `block-${number}-${index}`, words: t().blocks.problems.eachRow, mends }];
}
