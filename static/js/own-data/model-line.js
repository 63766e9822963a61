/** The changes of a program that make it load a model, and a program to begin with. */

import { nameFor } from "../blocks/edits.js";
import { insertion } from "../blocks/lists.js";
import { dottedName, fullName } from "../blocks/names.js";
import { children, elements, evaluate, parse, walk } from "../blocks/syntax.js";

/**
 * @import { Change, Program, Range } from "../blocks/types.js"
 * @import { ModelFile, ModelTensor } from "../../engine/messages.js"
 */

const LOAD = "load_model";

/** @typedef {{name: string, length?: number | null}} Loaded the name of a model, which has no quotation marks, and the steps of its samples */

/** @param {Loaded} model */
const keyword = ({ length }) => (length ? `, sequence_length=${length}` : "");

/** The call that loads a model. @param {Loaded} model @param {string} [load] */
export const loadCall = (model, load = `pg.${LOAD}`) => `${load}("${model.name}"${keyword(model)})`;

/**
 * The arguments in calls of a function that loads something by its name.
 * @param {Program} program
 * @param {string} load the function, such as "load_model"
 * @returns {(Range & {name: string, others: string})[]} `others`: what follows the name
 */
export function loads({ text, names }, load) {
  /** @type {ReturnType<typeof loads>} */
  const found = [];
  walk(parse(text), (node) => {
    if (node.name !== "CallExpression") return;
    const [callee, list] = children(node);
    if (list?.name !== "ArgList" || fullName(dottedName(callee, text), names) !== load) return;
    const [first, ...rest] = elements(list);
    const value = first?.length === 1 ? evaluate(first[0], text) : null;
    if (value?.type !== "string") return;
    const [{ from, to: end }] = first;
    const to = rest.at(-1)?.at(-1)?.to ?? end;
    found.push({ from, to, name: value.value, others: text.slice(end, to) });
  });
  return found;
}

/**
 * Have a program load a model: in place of one that it loads, or of a network that it builds in one
 * expression, otherwise in a line after the imports.
 * @param {Program} program
 * @param {Loaded} model
 * @returns {Change[]} none if it does so already
 */
export function modelChanges(program, model) {
  const [loaded] = loads(program, LOAD);
  if (loaded) {
    const { from, to, name, others } = loaded;
    const isThere =
      name === model.name && others.replace(/\s/g, "") === keyword(model).replace(" ", "");
    return isThere ? [] : [{ from, to, insert: `"${model.name}"${keyword(model)}` }];
  }
  const { name: load, changes } = nameFor(program, LOAD);
  const call = loadCall(model, load);
  const built = program.networks.findLast(
    (network) =>
      network.scope === "" &&
      network.name !== "" &&
      network.items.every(({ place }) => place.type !== "add"),
  );
  if (built) return [...changes, { ...built.range, insert: call }];
  const { importsEnd } = program.names;
  const text = `model = ${call}`;
  if (importsEnd > 0) return [...changes, insertion(importsEnd, `\n\n${text}`)];
  return [
    ...changes,
    insertion(changes[0]?.from ?? 0, changes.length > 0 ? `\n${text}\n` : `${text}\n`),
  ];
}

/**
 * A whole program that shows a model and predicts, with the lines that train it.
 * @param {string} name
 * @param {Pick<ModelFile, "inputs" | "compiled"> & {sequence_length?: number | null}} about
 */
export function modelProgram(name, { inputs, compiled, sequence_length: length }) {
  const arrays = inputs.map(randomArray);
  const samples =
    arrays.length === 1 ? arrays[0] : `[\n${arrays.map((array) => `    ${array},\n`).join("")}]`;
  return [
    "import numpy as np",
    "import playgrad as pg",
    "",
    `model = ${loadCall({ name, length })}`,
    "model.summary()",
    "",
    "# Two samples of random numbers, in place of yours.",
    "random = np.random.default_rng(0)",
    `x = ${samples}`,
    "print(model.predict(x))",
    "",
    "# To train it further, with samples and targets of your own:",
    ...(compiled
      ? []
      : ['# model.compile("adam", pg.nn.SparseCategoricalCrossentropy(from_logits=True))']),
    "# model.fit(x_train, y_train, epochs=1)",
    "",
  ].join("\n");
}

/** @param {ModelTensor} input */
function randomArray({ shape, dtype }) {
  const sizes = [2, ...shape.map((size) => size ?? 1)].join(", ");
  if (dtype.startsWith("float")) return `random.normal(size=(${sizes})).astype(np.${dtype})`;
  return dtype === "bool"
    ? `random.integers(2, size=(${sizes})).astype(bool)`
    : `random.integers(2, size=(${sizes})).astype(np.${dtype})`;
}
