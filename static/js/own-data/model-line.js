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

/** @param {string} name a name of a model, which has no quotation marks */
const literal = (name) => `"${name}"`;

/** The literals in calls of `pg.load_model`. @param {Program} program @returns {(Range & {name: string})[]} */
function loads({ text, names }) {
  /** @type {(Range & {name: string})[]} */
  const found = [];
  walk(parse(text), (node) => {
    if (node.name !== "CallExpression") return;
    const [callee, list] = children(node);
    if (list?.name !== "ArgList" || fullName(dottedName(callee, text), names) !== LOAD) return;
    const [first] = elements(list);
    const value = first?.length === 1 ? evaluate(first[0], text) : null;
    if (value?.type === "string")
      found.push({ from: first[0].from, to: first[0].to, name: value.value });
  });
  return found;
}

/**
 * Have a program load a model: in place of one that it loads, or of a network that it builds in one
 * expression, otherwise in a line after the imports.
 * @param {Program} program
 * @param {string} name
 * @returns {Change[]} none if it does so already
 */
export function modelChanges(program, name) {
  const [loaded] = loads(program);
  if (loaded)
    return loaded.name === name
      ? []
      : [{ from: loaded.from, to: loaded.to, insert: literal(name) }];
  const { name: load, changes } = nameFor(program, LOAD);
  const call = `${load}(${literal(name)})`;
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
 * A whole program that shows a model and predicts, with what it takes to train it.
 * @param {string} name
 * @param {Pick<ModelFile, "inputs" | "compiled">} about
 */
export function modelProgram(name, { inputs, compiled }) {
  const arrays = inputs.map(randomArray);
  const samples =
    arrays.length === 1 ? arrays[0] : `[\n${arrays.map((array) => `    ${array},\n`).join("")}]`;
  return [
    "import numpy as np",
    "import playgrad as pg",
    "",
    `model = pg.load_model(${literal(name)})`,
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
