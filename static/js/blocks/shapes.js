/** Shapes and numbers of parameters of all items of a program, before it runs. */

import { t } from "../words/locale.js";
import { argumentOf, valueOf } from "./calls.js";
import { recordOf } from "./catalogue.js";
import { BASIC } from "./rules/basic.js";
import { Impossible, LayerArguments, Unknown, shapeText } from "./rules/layer.js";
import { SEQUENCES } from "./rules/sequences.js";
import { WINDOWS } from "./rules/windows.js";

/** @import { Measured } from "./last-run.js" */
/** @import { Item, LayerMend, Network, Program, Shape } from "./types.js" */

/** @type {Record<string, import("./rules/layer.js").Family>} */
const FAMILIES = { ...BASIC, ...WINDOWS, ...SEQUENCES };

/** The rule of a layer; null without one. @param {string} kind */
function ruleOf(kind) {
  const [family, ...given] = recordOf(kind)?.rule ?? [];
  return family === undefined ? null : FAMILIES[family](...given);
}

/**
 * @typedef {object} Inferred
 * @property {Shape | null} shape of one sample; null: known after the first run
 * @property {number | null} parameters
 * @property {string} problem why the layer cannot be built, in plain words; "" if it can
 * @property {LayerMend | null} [mend] what makes it fit, if that is known
 */

/** @type {Inferred} */
const UNKNOWN = { shape: null, parameters: null, problem: "" };

/**
 * @param {Program} program
 * @param {Map<number, Measured>} [measured] in the last run, for what does not follow from the program
 * @returns {Map<number, Inferred>} by the id of the item
 */
export function inferShapes(program, measured = new Map()) {
  /** @type {Map<number, Inferred>} */
  const results = new Map();
  for (const network of program.networks) {
    for (const item of network.items) {
      const inferred = inferItem(item, network, results);
      const ran = inferred.problem ? undefined : measured.get(item.id);
      results.set(item.id, {
        ...inferred,
        shape: inferred.shape ?? ran?.shape ?? null,
        parameters: inferred.parameters ?? ran?.parameters ?? null,
      });
    }
  }
  return results;
}

/** @param {Item} item @param {Network} network @param {Map<number, Inferred>} results @returns {Inferred} */
function inferItem(item, network, results) {
  const isFirst = network.type === "sequential" && item === network.items[0];
  /** @type {(Shape | null)[]} */
  const inputs = item.inputs.map((id) => (id === null ? null : (results.get(id)?.shape ?? null)));
  if (isFirst && item.type !== "input") inputs[0] = network.input?.shape ?? null;
  if (item.type === "input")
    return { shape: inputShape(item), parameters: 0, ...inputProblem(item, network) };
  if (item.type === "join") return { shape: broadcast(inputs), parameters: 0, problem: "" };
  if (item.type === "code" || !item.call) return UNKNOWN;
  const rule = ruleOf(item.call.kind);
  /** @type {Shape[]} */
  const known = inputs.filter((shape) => shape !== null);
  if (!rule || known.length < inputs.length || known.length === 0) return withoutInput(item);
  try {
    return { ...rule(known[0], new LayerArguments(item.call), known), problem: "" };
  } catch (problem) {
    if (problem instanceof Impossible)
      return { ...UNKNOWN, problem: problem.message, mend: problem.mend };
    if (problem instanceof Unknown) return withoutInput(item);
    throw problem;
  }
}

/** The facts about a layer's result that do not depend on its input. @param {Item} item @returns {Inferred} */
function withoutInput({ call }) {
  if (call?.kind !== "Reshape") return UNKNOWN;
  const value = valueOf(call, "target_shape");
  const sizes = value?.type === "tuple" || value?.type === "list" ? value.value : [];
  const isKnown = sizes.length > 0 && sizes.every((size) => size.type === "int" && size.value > 0);
  return isKnown
    ? { shape: sizes.map(({ value: size }) => Number(size)), parameters: 0, problem: "" }
    : UNKNOWN;
}

/** @param {Item} item @returns {Shape | null} */
function inputShape({ call }) {
  const value = call && argumentOf(call, "shape")?.value;
  if (value?.type === "int") return [value.value];
  if (value?.type !== "tuple" && value?.type !== "list") return null;
  return value.value.map((size) => (size.type === "int" ? size.value : null));
}

/** @param {Item} item @param {Network} network @returns {Pick<Inferred, "problem" | "mend">} */
function inputProblem(item, network) {
  const shape = inputShape(item);
  const data = network.input?.shape;
  const single = network.items.filter(({ type }) => type === "input").length === 1;
  if (!shape || !data || !single) return { problem: "" };
  const fits =
    shape.length === data.length &&
    shape.every((size, i) => size === null || data[i] === null || size === data[i]);
  if (fits) return { problem: "" };
  return {
    problem: t().shapes.inputDiffers(shapeText(data), shapeText(shape)),
    mend: data.includes(null) ? null : { set: ["shape", tupleText(data)] },
  };
}

/** @param {Shape} shape */
const tupleText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** The shape of sums and products; null if it is not known or they do not fit. @param {(Shape | null)[]} shapes */
function broadcast(shapes) {
  const [first, ...others] = shapes;
  const isSame = others.every((each) => each && first && each.join() === first.join());
  return first && isSame ? first : null;
}
