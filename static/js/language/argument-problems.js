/** Arguments that functions and classes of playgrad do not take, and what to write instead. */

import { t } from "../words/locale.js";
import { nearest } from "./nearest.js";
import { paddingProblem } from "./padding-problem.js";
import { removalOf } from "./removal.js";
import { Speller } from "./spelling.js";
import { children, readArguments } from "./tree.js";

/**
 * @import { Argument, SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Translator } from "./translator.js"
 * @import { Problem } from "./bridging.js"
 * @import { Change } from "./spelling.js"
 */

const SHAPES = ["input_shape", "input_dim", "batch_input_shape", "input_length"];
/** Endings that the files of other libraries have, by the method that does not write or read them. */
const FOREIGN = /** @type {Record<string, RegExp>} */ ({
  "nn.ModelCheckpoint": /^["'].*\.(?:h5|hdf5|keras|tf|ckpt)["']$/,
  "Model.save": /^["'].*\.(?:h5|hdf5|tf|ckpt)["']$/,
  "Model.save_weights": /^["'].*\.(?:hdf5|tf|ckpt)["']$/,
  "Model.load_weights": /^["'].*\.(?:(?<!\.weights\.)h5|hdf5|tf|ckpt)["']$/,
});

/** @param {Program} program @param {Translator} translator @returns {Problem[]} */
export function argumentProblems(program, translator) {
  /** @type {Problem[]} */
  const problems = [];
  program.tree.iterate({
    enter({ node }) {
      if (node.name !== "CallExpression" || !node.firstChild) return;
      const list = node.getChild("ArgList");
      const value = program.value(node.firstChild) ?? ofSomeModel(program, node.firstChild);
      if (!list || value?.kind !== "name") return;
      const given = readArguments(list, program.code);
      problems.push(
        ...unknownArguments(program, translator, node, list, value.name, given),
        ...paddingProblem(program, value.name, given),
        ...special(program, node, list, value.name, given),
      );
    },
  });
  return problems;
}

/** A method that writes or reads weights, of an object that a function of the program has made. @param {Program} program @param {SyntaxNode} callee */
function ofSomeModel(program, callee) {
  const name = `Model.${callee.lastChild ? program.text(callee.lastChild) : ""}`;
  const isPlain = callee.firstChild?.name === "VariableName" && Object.hasOwn(FOREIGN, name);
  return isPlain ? { kind: "name", name } : null;
}

/**
 * @param {Program} program
 * @param {Translator} translator
 * @param {SyntaxNode} call
 * @param {SyntaxNode} list
 * @param {string} name
 * @param {Argument[]} given
 * @returns {Problem[]}
 */
function unknownArguments(program, translator, call, list, name, given) {
  const parameters = program.names.parameters(name)?.map(([parameter]) => parameter);
  if (!parameters) return [];
  const takesMore = parameters.some((each) => each.startsWith("**"));
  const words = t().bridge;
  return given
    .filter((each) => each.name !== null && !parameters.includes(each.name))
    .filter((each) => !takesMore || SHAPES.includes(each.name ?? ""))
    .map((each) => {
      const argument = /** @type {string} */ (each.name);
      const place = { from: each.from, to: each.to };
      const rule = translator.argument(name, argument);
      const isGuess = !rule;
      const other = rule?.to ?? (rule ? null : nearest(argument, parameters));
      if (other && parameters.includes(other)) {
        const change = each.nameNode && {
          from: each.nameNode.from,
          to: each.nameNode.to,
          insert: other,
        };
        const message = rule
          ? words.is(argument, other)
          : words.argument.isNotBut(argument, name, other);
        return {
          ...place,
          message,
          isGuess,
          label: words.write(`${other}=`),
          changes: change ? [change] : [],
        };
      }
      const message = words.argument.isNot(argument, name, rule?.no && words.said(rule.no));
      if (rule?.call && each.value) {
        const shape = sampleShape(program.text(each.value));
        return {
          ...place,
          message,
          label: words.write(shape),
          changes: [{ ...place, insert: shape }],
        };
      }
      const first = SHAPES.includes(argument) ? inputBefore(program, call, each) : null;
      const changes = [...(first ?? []), removeArgument(program, list, each)];
      const label = first ? words.argument.writeInput : words.remove(argument);
      return { ...place, message, isGuess, isLoss: isGuess, label, changes };
    });
}

/** Without its comma. @param {Program} program @param {SyntaxNode} list @param {Argument} argument @returns {Change} */
function removeArgument(program, list, argument) {
  const commas = children(list).filter((each) => each.name === ",");
  const before = commas.filter((each) => each.to <= argument.from).pop();
  const after = commas.find((each) => each.from >= argument.to);
  if (before) return { from: before.from, to: argument.to, insert: "" };
  const rest = after ? (/^\s*/.exec(program.code.slice(after.to))?.[0].length ?? 0) : 0;
  return { from: argument.from, to: after ? after.to + rest : argument.to, insert: "" };
}

/** The shape of an input as an item before the first layer of a chain. @param {Program} program @param {SyntaxNode} call @param {Argument} argument @returns {Change[] | null} */
function inputBefore(program, call, argument) {
  const chain = call.parent;
  if (
    chain?.name !== "ArrayExpression" ||
    chain.firstChild?.nextSibling?.from !== call.from ||
    !argument.value
  )
    return null;
  const outer = chain.parent?.parent;
  const value =
    outer?.name === "CallExpression" && outer.firstChild ? program.value(outer.firstChild) : null;
  if (value?.kind !== "name" || value.name !== "Sequential") return null;
  const text = program.text(argument.value);
  const shape =
    argument.name === "input_dim"
      ? `(${text},)`
      : argument.name === "batch_input_shape"
        ? sampleShape(text)
        : text;
  const speller = new Speller(program, call.from);
  const line = program.code.slice(program.code.lastIndexOf("\n", call.from - 1) + 1, call.from);
  const gap = /^\s*$/.test(line) ? `\n${line}` : " ";
  const input = `${speller.name("Input")}(${shape}),${gap}`;
  return [...speller.importChanges(), { from: call.from, to: call.from, insert: input }];
}

/** A shape without the batch, `(784,)` for `(None, 784)`. @param {string} text an expression */
function sampleShape(text) {
  const rest = /^[([]\s*None\s*,([\s\S]*)[)\]]$/.exec(text)?.[1];
  if (rest === undefined) return `tuple(${text})[1:]`;
  const inner = rest.trim().replace(/,$/, "");
  return inner.includes(",") ? `(${inner})` : `(${inner},)`;
}

/**
 * Calls that mean something else here.
 * @param {Program} program
 * @param {SyntaxNode} call
 * @param {SyntaxNode} list
 * @param {string} name
 * @param {Argument[]} given
 * @returns {Problem[]}
 */
function special(program, call, list, name, given) {
  const words = t().bridge;
  const place = { from: list.from, to: list.to };
  const [first, second] = given;
  if (
    name === "Sequential" &&
    first?.name === null &&
    second?.name === null &&
    second.value?.name === "CallExpression"
  ) {
    const positional = given.filter((each) => each.name === null);
    const last = positional[positional.length - 1];
    const changes = [
      { from: first.from, to: first.from, insert: "[" },
      { from: last.to, to: last.to, insert: "]" },
    ];
    return [{ ...place, message: words.oneList, label: words.makeList, changes }];
  }
  if (!first?.value) return [];
  const text = program.text(first.value);
  const value = { from: first.value.from, to: first.value.to };
  if (name === "Sequential.build" && first.name === null && /^[([]\s*None\s*,/.test(text)) {
    const insert = sampleShape(text);
    return [
      {
        ...value,
        message: words.shapeOfSample,
        label: words.write(insert),
        changes: [{ ...value, insert }],
      },
    ];
  }
  if (Object.hasOwn(FOREIGN, name) && FOREIGN[name].test(text)) {
    const isWhole =
      name === "nn.ModelCheckpoint" &&
      !given.some(({ name: argument }) => argument === "save_weights_only");
    const ending = isWhole ? ".playgrad" : ".safetensors";
    const insert = text.replace(/(?:\.weights)?\.\w+(?=["']$)/, ending);
    return [
      {
        ...value,
        message: words.weightsFiles,
        label: words.write(insert),
        changes: [{ ...value, insert }],
      },
    ];
  }
  const callee =
    first.value.name === "CallExpression" && first.value.firstChild
      ? program.value(first.value.firstChild)
      : null;
  if (
    name === "Sequential.add" &&
    callee?.kind === "name" &&
    callee.name === "Input" &&
    call.firstChild
  ) {
    const changes = removalOf(program, call.firstChild) ?? undefined;
    return [{ ...place, message: words.shapeFromData, label: words.removeLine, changes }];
  }
  return [];
}
