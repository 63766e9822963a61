/** Writes a call or a name of another library in the way of playgrad. */

import { children, readArguments } from "./tree.js";

/**
 * @import { Argument, SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Rule } from "./translator.js"
 * @import { Change, Speller } from "./spelling.js"
 */

/**
 * The changes that a rule makes to a name, and to the call of it.
 * @param {Program} program
 * @param {Rule} rule
 * @param {SyntaxNode} node the name: a variable or a member
 * @param {Speller} speller
 * @returns {Change[] | null} null if the rule has no equivalent
 */
export function rewrite(program, rule, node, speller) {
  const call =
    node.parent?.name === "CallExpression" && node.parent.firstChild?.from === node.from
      ? node.parent
      : null;
  if (call && rule.call !== undefined) {
    const text = fill(program, rule.call, rule.params ?? "", node, call, speller) ?? "";
    const insert = text && isTrained(program, call) ? `${speller.name("Variable")}(${text})` : text;
    return [{ from: call.from, to: call.to, insert }].filter((each) => each.insert);
  }
  if (rule.value !== undefined && !call)
    return [
      {
        from: node.from,
        to: node.to,
        insert: fill(program, rule.value, "", node, null, speller) ?? "",
      },
    ];
  if (rule.to === undefined) return null;
  const changes = [{ from: node.from, to: node.to, insert: speller.name(rule.to) }];
  const list = call?.getChild("ArgList");
  return list ? [...changes, ...argumentChanges(program, rule, list)] : changes;
}

/** Whether the numbers that a call makes are to be trained. @param {Program} program @param {SyntaxNode} call */
function isTrained(program, call) {
  const list = call.getChild("ArgList");
  return (
    list !== null &&
    readArguments(list, program.code).some(
      ({ name, value }) => name === "requires_grad" && value && program.text(value) === "True",
    )
  );
}

/** @param {Program} program @param {Rule} rule @param {SyntaxNode} list @returns {Change[]} */
function argumentChanges(program, rule, list) {
  const given = readArguments(list, program.code);
  const parts =
    rule.args === undefined && !rule.list
      ? null
      : given.flatMap((each, at) => rewritten(program, rule, each, at));
  if (rule.list) return [listed(program, given, list)];
  const texts = parts ?? given.map((each) => program.text(each));
  if (rule.set) texts.push(rule.set);
  if (parts === null && !rule.set) return [];
  return [{ from: list.from, to: list.to, insert: `(${texts.join(", ")})` }];
}

/** @param {Program} program @param {Rule} rule @param {Argument} argument @param {number} at @returns {string[]} */
function rewritten(program, rule, argument, at) {
  const known = (rule.args ?? "")
    .split(" ")
    .filter(Boolean)
    .map((text) => {
      const [name, other] = text.replace(/^-/, "").split(">");
      return { name, other: other ?? name, isDropped: text.startsWith("-") };
    });
  const text = argument.value ? program.text(argument.value) : "";
  const found =
    argument.name === null ? known[at] : known.find(({ name }) => name === argument.name);
  if (argument.stars)
    return [program.text(argument)].filter(() => !known.some(({ isDropped }) => isDropped));
  if (!found)
    return argument.name === null && rule.args !== ""
      ? [text]
      : argument.name === null
        ? []
        : [program.text(argument)];
  if (found.isDropped) return [];
  const several = found.other.split("+");
  if (several.length > 1) {
    const items =
      argument.value?.name === "TupleExpression" ? tupleItems(program, argument.value) : [];
    return several.map((each, i) => `${each}=${items[i] ?? `${text}[${i}]`}`);
  }
  if (argument.name !== null) return [`${found.other}=${text}`];
  const dropped = known.slice(0, at).filter(({ isDropped }) => isDropped).length;
  const isInPlace = program.names.parameters(rule.to ?? "")?.[at - dropped]?.[0] === found.other;
  return [isInPlace ? text : `${found.other}=${text}`];
}

/** @param {Program} program @param {SyntaxNode} tuple */
const tupleItems = (program, tuple) =>
  children(tuple)
    .filter(({ name }) => !["(", ")", ","].includes(name))
    .map((each) => program.text(each));

/** Positional arguments as one list. @param {Program} program @param {Argument[]} given @param {SyntaxNode} list @returns {Change} */
function listed(program, given, list) {
  const positional = given.filter(({ name }) => name === null);
  const [first] = positional;
  const last = positional[positional.length - 1];
  if (!first) return { from: list.from + 1, to: list.from + 1, insert: "[]" };
  const isList = positional.length === 1 && first.value?.name === "ArrayExpression";
  const text = program.code.slice(first.from, last.to);
  const unpacked =
    positional.length === 1 && first.stars === "*" && first.value
      ? program.text(first.value)
      : null;
  return { from: first.from, to: last.to, insert: isList ? text : (unpacked ?? `[${text}]`) };
}

/**
 * Fill a template of the table.
 * @param {Program} program
 * @param {string} template
 * @param {string} parameters names of the parameters there, in order
 * @param {SyntaxNode} node
 * @param {SyntaxNode | null} call
 * @param {Speller} speller
 * @returns {string | null} null if an argument that it needs is not there
 */
function fill(program, template, parameters, node, call, speller) {
  const list = call?.getChild("ArgList");
  const given = list ? readArguments(list, program.code) : [];
  const order = parameters.split(" ");
  /** @param {string} name */
  const argument = (name) => {
    const found =
      given.find((each) => each.name === name) ??
      given.filter((each) => each.name === null)[order.indexOf(name)];
    return found?.value ? program.text(found.value) : null;
  };
  let isComplete = true;
  /** @param {string} text @returns {string} */
  const filled = (text) =>
    text.replace(
      /\{([\w*]+)(?::(\w+))?(?:\|((?:[^{}]|\{\w+\})*))?\}/g,
      (_, name, filter, otherwise) => {
        if (name === "*" && filter) return LISTS[filter](program, given);
        if (name === "*") return list ? program.code.slice(list.from + 1, list.to - 1) : "";
        if (name === "self") return node.firstChild ? program.text(node.firstChild) : "";
        const value =
          name === "model" && !order.includes("model") ? modelOf(program, node) : argument(name);
        if (filter === "shuffled") return shuffled(value);
        if (filter === "part") return part(value);
        if (filter === "normal") return normal(value);
        if (value !== null) return filter === "weights" ? weightsFile(value) : value;
        if (otherwise !== undefined) return filled(otherwise);
        if (name === "model") return modelOf(program, node) ?? "model";
        isComplete = false;
        return "";
      },
    );
  const text = filled(template)
    .replace(/@([A-Za-z_][\w.]*)/g, (_, name) => speller.name(name))
    .replace(/\bnp\./g, () => `${speller.numpy()}.`);
  return isComplete ? text : null;
}

/** Arguments of which those by position are one shape: `(2, 3), dtype=d` for `2, 3, dtype=d` and for `(2, 3), dtype=d`. @param {Program} program @param {Argument[]} given */
function withShape(program, given) {
  const sizes = given.filter(({ name }) => name === null);
  const isShape =
    sizes.length === 1 &&
    ["TupleExpression", "ArrayExpression", "MemberExpression"].includes(sizes[0].value?.name ?? "");
  const text = sizes.map((each) => program.text(each)).join(", ");
  const shape =
    sizes.length === 0 ? [] : [isShape ? text : `(${text}${sizes.length > 1 ? "" : ","})`];
  return [
    ...shape,
    ...given.filter(({ name }) => name !== null).map((each) => program.text(each)),
  ].join(", ");
}

/** @type {Record<string, (program: Program, given: Argument[]) => string>} */
const LISTS = {
  shape: withShape,
  sizes: (program, given) => {
    const size = given.find(({ name }) => name === "size")?.value;
    return size ? program.text(size) : withShape(program, byPosition(given)) || "()";
  },
  numbers: (program, given) =>
    given
      .filter(({ name }) => !FORMS.includes(name ?? ""))
      .map((each) => program.text(each.value ?? each))
      .join(", "),
  bounds: (program, given) => {
    const texts = given
      .filter(({ name }) => !FORMS.includes(name ?? ""))
      .map((each) => program.text(each));
    return texts.length === 2 && byPosition(given).length === 2
      ? `${texts[0]}, size=${texts[1]}`
      : texts.join(", ");
  },
};
/** Arguments that say how numbers are stored, of which playgrad decides itself. */
const FORMS = ["dtype", "device", "requires_grad", "generator", "out", "layout"];

/** @param {Argument[]} given */
const byPosition = (given) => given.filter(({ name }) => name === null);

/** A call of `shuffle`, for an argument that says whether to. @param {string | null} value */
const shuffled = (value) =>
  value === null || value === "False"
    ? ""
    : `.shuffle(${value === "True" ? 10000 : `10000 if ${value} else 1`})`;

/** Normally distributed numbers; the batch size of another tensor need not be known. @param {string | null} shape */
function normal(shape) {
  const like = /^(?:\w+\.)*shape\((\w+)\)$|^(\w+)\.shape$/.exec(shape ?? "");
  return like
    ? `@nn.GaussianNoise(1.0)(@zeros_like(${like[1] ?? like[2]}), training=True)`
    : `@random_normal(${shape ?? "()"})`;
}

/** The number of the part of a data set. @param {string | null} value whether it is that for training */
const part = (value) =>
  value === null || value === "True" ? "0" : value === "False" ? "1" : `0 if ${value} else 1`;

/** The name of a weights file instead of a saved model's. @param {string} text an expression */
const weightsFile = (text) =>
  text.replace(
    /^(["'])(.*?)(?:\.weights)?(?:\.(?:h5|keras|hdf5|tf|pb))?\1$/,
    (whole, quote, name) =>
      /\.(?:safetensors|npz)$/.test(name) ? whole : `${quote}${name}.safetensors${quote}`,
  );

/** The model that a layer belongs to: the one it is taken from, or the first one of the program. @param {Program} program @param {SyntaxNode} node */
function modelOf(program, node) {
  const taken = /^(\w+)\.layers\b/.exec(program.text(node));
  if (taken) return taken[1];
  const owner = /^\w+/.exec(program.text(node))?.[0] ?? "";
  const loop = program.binding(owner, node.from);
  const from = loop?.value && /^(\w+)\.layers\b/.exec(program.text(loop.value));
  if (from) return from[1];
  for (const each of program.bindings) {
    const value = each.value ? program.value(each.value) : null;
    if (value?.kind === "instance" && program.names.isA(value.of, "Model")) return each.name;
  }
  return null;
}
