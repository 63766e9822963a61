/** The card that an error of a run belongs to, the problem in the card's words, and its remedy. */

import { t } from "../words/locale.js";
import { argumentOf, valueOf } from "./calls.js";
import { linesOf } from "./last-run.js";
import { mendsOfLayer, networkOf, outputOf, setLoss, setOutputs, setValue } from "./mends.js";
import { cardOf, flattened, purposeOf, trainingCard } from "./objective.js";
import { shapeText, wrongRank } from "./rules/layer.js";
import { isNumber } from "./syntax.js";

/** @import { ErrorInfo } from "../../engine/messages.js" */
/** @import { Inferred } from "./shapes.js" */
/** @import { Item, Network, Problem, Program, Shape, Training } from "./types.js" */

/** @typedef {Pick<ErrorInfo, "message" | "line" | "op"> & {problem?: ErrorInfo["problem"]}} RunError */

/**
 * @param {Program} program the one that ran
 * @param {Map<number, Inferred>} shapes
 * @param {RunError} error
 * @returns {Problem | null} null if it belongs to no card
 */
export function runProblem(program, shapes, error) {
  const known = error.problem ? new Explained(program, shapes, error).problem() : null;
  if (known) return { ...known, ran: true };
  const card = cardAt(program, error);
  if (!card) return null;
  return { card, words: t().blocks.problems.ended(error.message), mends: [], ran: true };
}

/** The card of an error's line; of several layers on the line, that of its operation. @param {Program} program @param {RunError} error */
export function cardAt(program, { line, op }) {
  if (line === null) return null;
  const layer = layerAt(program, line, op);
  if (layer) return cardOf(program, layer.network, layer.index);
  const training = trainingAt(program, line);
  if (training) return trainingCard(program, training);
  const data = program.data.findIndex((call) => isAt(program.text, call, line));
  return data < 0 ? null : `data-${data}`;
}

/** @param {string} text @param {import("./types.js").Range} range @param {number} line */
function isAt(text, { from, to }, line) {
  const first = text.slice(0, from).split("\n").length;
  return first <= line && line < first + text.slice(from, to).split("\n").length;
}

/** @param {Program} program @param {number | null} line */
const trainingAt = ({ trainings, text }, line) =>
  trainings.find(({ compile, fit, optimizer, schedule }) =>
    [fit, compile, optimizer, schedule].some(
      (call) => line !== null && call && isAt(text, call, line),
    ),
  ) ?? null;

/** @typedef {{network: Network, index: number, item: Item}} Layer */

/** @param {Program} program @returns {Layer[]} */
const layersOf = ({ networks }) =>
  networks.flatMap((network) => network.items.map((item, index) => ({ network, index, item })));

/** @param {Program} program @param {number | null} line @param {string | null} op @returns {Layer | null} */
function layerAt(program, line, op) {
  const there = layersOf(program).filter(({ item }) => {
    const [first, last] = linesOf(program.text, item);
    return line !== null && first <= line && line <= last;
  });
  const named = op === null ? null : layerNamed(program, op);
  if (named && there.some(({ item }) => item === named.item)) return named;
  return there.length === 1 ? there[0] : null;
}

/** The layer of an operation: by the name in the program, or by its kind and number. @param {Program} program @param {string} op @returns {Layer | null} */
function layerNamed(program, op) {
  const [name] = op.split("/");
  const layers = layersOf(program).filter(({ item }) => item.type === "layer");
  const byName = layers.find(({ item }) => argumentOf(item.call, "name")?.value?.value === name);
  if (byName) return byName;
  const [, kind, number] = /^(.*?)(?:_(\d+))?$/.exec(name) ?? [];
  const plain = (kind ?? "").replaceAll("_", "");
  const same = layers.filter(({ item }) => item.call?.kind.toLowerCase() === plain);
  return same[Number(number ?? 1) - 1] ?? null;
}

/** An error of a kind that is known. */
class Explained {
  /** @param {Program} program @param {Map<number, Inferred>} shapes @param {RunError} error */
  constructor(program, shapes, error) {
    this.program = program;
    this.shapes = shapes;
    this.error = error;
    /** @type {Record<string, any>} numbers and names, by the kind */
    this.values = error.problem?.values ?? {};
    this.training = trainingAt(program, error.line) ?? program.trainings[0] ?? null;
    this.network = this.training && networkOf(program, this.training);
  }

  /** @returns {Problem | null} */
  problem() {
    switch (this.error.problem?.code) {
      case "labels-outside":
        return this.labelsOutside();
      case "targets-shape":
        return this.targetsShape();
      case "labels-fractional":
        return this.ofLoss(t().blocks.problems.numbersForClasses, "MeanSquaredError", 1);
      case "targets-outside":
        return this.targetsOutside();
      case "rank":
        return this.rank();
      case "samples-shape":
        return this.samplesShape();
      case "ids-outside":
        return this.idsOutside();
      case "count":
        return this.count();
      case "not-finite":
        return this.notFinite();
      default:
        return null;
    }
  }

  /** @param {string} words @param {Problem["mends"]} mends @returns {Problem | null} */
  ofOutput(words, mends) {
    const output = this.network && outputOf(this.network);
    if (!this.network || !output) return null;
    const index = this.network.items.indexOf(output);
    return { card: cardOf(this.program, this.network, index), words, mends };
  }

  /** @param {string} words @param {import("./mends.js").LossKind} kind @param {number} [outputs] @returns {Problem | null} */
  ofLoss(words, kind, outputs) {
    if (!this.training) return null;
    const card = trainingCard(this.program, this.training);
    const mends = setLoss(this.program, this.training, kind, outputs);
    return { card, parameter: "loss", words, mends };
  }

  /** @param {number} count */
  outputs(count) {
    return this.network ? setOutputs(this.program, this.network, count) : [];
  }

  labelsOutside() {
    const { outputs, least, most } = this.values;
    const words = t().blocks.problems;
    if (least < 0) return this.ofOutput(words.negativeLabels(least), []);
    if (least > 0 && most === outputs) return this.ofOutput(words.labelsFromOne(outputs), []);
    return this.ofOutput(words.outputs(outputs, most + 1), this.outputs(most + 1));
  }

  targetsShape() {
    const { axes, targets, outputs, classes } = this.values;
    const words = t().blocks.problems;
    const purpose = this.training ? purposeOf(this.training) : "";
    if (axes > 1 && targets > 0)
      return this.network
        ? (flattened(this.program, this.network, this.shapes, 2)[0] ?? null)
        : null;
    if (purpose === "sparse" && targets > 1)
      return this.ofLoss(words.oneHot(targets), "CategoricalCrossentropy", targets);
    if (purpose === "categorical" && classes > 0)
      return this.ofLoss(words.classNumbers, "SparseCategoricalCrossentropy", classes);
    if (targets === 0 || outputs === 0) return null;
    const found = this.ofOutput(words.targets(outputs, targets), this.outputs(targets));
    const isClasses = found && this.training && classes > 1 && outputs > 1;
    const others = isClasses
      ? setLoss(
          this.program,
          /** @type {Training} */ (this.training),
          "SparseCategoricalCrossentropy",
          classes,
        )
      : [];
    return found && { ...found, mends: [...others, ...found.mends] };
  }

  targetsOutside() {
    const { least, most, whole } = this.values;
    const words = t().blocks.problems;
    if (whole && least >= 0)
      return this.ofLoss(words.moreThanTwo(most + 1), "SparseCategoricalCrossentropy", most + 1);
    return this.ofLoss(words.notYesOrNo(least, most), "MeanSquaredError");
  }

  rank() {
    const layer = this.layer();
    const { kind, rank, shape } = this.values;
    if (!layer || rank < 1 || rank > 3) return null;
    const { message: words, mend } = wrongRank(kind, rank, sizesOf(shape));
    return this.ofLayer(layer, words, mend);
  }

  samplesShape() {
    const { expected, shape } = this.values;
    const network = this.network;
    if (!network || network.items.length === 0) return null;
    const sizes = sizesOf(shape);
    const isInput = network.items[0].type === "input" && !sizes.includes(null);
    const tuple = `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})`;
    const words = t().shapes.inputDiffers(shapeText(sizes), shapeText(sizesOf(expected)));
    const layer = { network, index: 0, item: network.items[0] };
    return this.ofLayer(layer, words, isInput ? { set: ["shape", tuple] } : null);
  }

  idsOutside() {
    const layer = this.layer();
    const { least, most } = this.values;
    const rows = layer?.item.call && valueOf(layer.item.call, "input_dim");
    if (!layer || layer.item.call?.kind !== "Embedding" || !isNumber(rows ?? null)) return null;
    const count = Number(rows?.value);
    if (least < 0) return this.ofLayer(layer, t().blocks.problems.negativeIds(least), null);
    const words = t().blocks.problems.ids(count, most);
    return this.ofLayer(layer, words, { set: ["input_dim", String(most + 1)] });
  }

  count() {
    const { name } = this.values;
    const fit = this.training?.fit;
    const fields = t().blocks.fields;
    /** @type {Record<string, [string, string]>} */
    const known = { batch_size: [fields.batchSize, "32"], epochs: [fields.epochs, "1"] };
    if (!this.training || !fit || !known[name]) return null;
    const [label, fallback] = known[name];
    return {
      card: trainingCard(this.program, this.training),
      parameter: name,
      words: t().blocks.problems.count(label),
      mends: setValue(this.program, fit, name, fallback),
    };
  }

  notFinite() {
    if (!this.training) return null;
    const { optimizer } = this.training;
    const given = optimizer && argumentOf(optimizer, "learning_rate");
    const { step, rate = Number(given?.value?.value) } = this.values;
    const lower = rate > 0 ? String(Number((rate / 10).toPrecision(3))) : "";
    const isNamed = optimizer && lower && (!given || given.literal);
    return {
      card: trainingCard(this.program, this.training),
      parameter: "learning_rate",
      words: t().blocks.problems.notFinite(step, rate ? String(rate) : ""),
      mends: isNamed ? setValue(this.program, optimizer, "learning_rate", lower) : [],
    };
  }

  /** The layer that the error names. */
  layer() {
    const { line, op } = this.error;
    const name = String(this.values.layer ?? op ?? "");
    return layerAt(this.program, line, name) ?? (name ? layerNamed(this.program, name) : null);
  }

  /** @param {Layer} layer @param {string} words @param {import("./types.js").LayerMend | null} mend @returns {Problem} */
  ofLayer({ network, index }, words, mend) {
    const number = this.program.networks.indexOf(network);
    const mends = mendsOfLayer(this.program, number, index, mend);
    return { card: `block-${number}-${index}`, words, mends };
  }
}

/** Sizes such as "28 × ?", as Python writes them. @param {string} text @returns {Shape} */
const sizesOf = (text) =>
  text === "" ? [] : text.split(" × ").map((size) => (size === "?" ? null : Number(size)));
