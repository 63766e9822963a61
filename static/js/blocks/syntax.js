/** The syntax tree of a program, and the values of its literals. */

import { pythonLanguage } from "../../vendor/codemirror.js";
import { children as allChildren } from "../language/tree.js";

/** @typedef {ReturnType<typeof import("../../vendor/codemirror.js").syntaxTree>["topNode"]} Node */
/** @import { Value } from "./types.js" */

/** @param {string} text @returns {Node} */
export const parse = (text) => pythonLanguage.parser.parse(text).topNode;

/** @param {Node} node comments are not among its children */
export const children = (node) => allChildren(node).filter(({ name }) => name !== "Comment");

/** @param {Node} node @param {(node: Node) => void} visit is called for the node and all below it */
export function walk(node, visit) {
  visit(node);
  for (const child of allChildren(node)) walk(child, visit);
}

/** The nodes between commas, such as the elements of a list. @param {Node[]} nodes @returns {Node[][]} */
export function parts(nodes) {
  /** @type {Node[][]} */
  const list = [[]];
  for (const node of nodes) {
    if (node.name === ",") list.push([]);
    else list[list.length - 1].push(node);
  }
  return list.filter((part) => part.length > 0);
}

/**
 * A float without digits after its point: `255.`, `1.e-3`. The grammar reads a member in it, which it misses in the first,
 * and blanks and comments behind it belong to its node.
 */
const POINTED = /^\d[\d_]*\.(?:[eE][+-]?\d+)?\s*$/;
const COMMENT = /#.*/g;

/** Whether the program has a mistake in its syntax. @param {Node} script @param {string} text */
export function isBroken(script, text) {
  let broken = false;
  walk(script, ({ type, parent }) => {
    if (
      type.isError &&
      !(parent && POINTED.test(text.slice(parent.from, parent.to).replace(COMMENT, "")))
    )
      broken = true;
  });
  return broken;
}

/** The elements of a list, a tuple or arguments, without the brackets. @param {Node} node */
export const elements = (node) => parts(children(node).slice(1, -1));

/** Targets and value of an assignment. @param {Node} statement */
export function assignment(statement) {
  const nodes = children(statement);
  const last = nodes.findLastIndex(({ name }) => name === "AssignOp");
  const value = parts(nodes.slice(last + 1)).flat();
  /** @type {Node[][][]} one list of targets for each "=" */
  const targets = [[]];
  for (const node of nodes.slice(0, Math.max(last, 0))) {
    if (node.name === "AssignOp") targets.push([]);
    else if (node.name !== "TypeDef") targets[targets.length - 1].push([node]);
  }
  return {
    targets: targets.map((each) => each.flat().filter(({ name }) => name !== ",")),
    values: value,
  };
}

/**
 * The value of an expression of literals, constants and arithmetic; null for any other.
 * @param {Node} node
 * @param {string} text
 * @param {(name: string) => Value | null} [constant]
 * @returns {Value | null}
 */
export function evaluate(node, text, constant = () => null) {
  const source = text.slice(node.from, node.to);
  const inner = (/** @type {Node} */ each) => evaluate(each, text, constant);
  if (POINTED.test(source)) return numberOf(source.trimEnd());
  switch (node.name) {
    case "Number":
      return numberOf(source);
    case "String": {
      const match = /^(['"])([^\\'"\n]*)\1$/.exec(source);
      return match && { type: "string", value: match[2] };
    }
    case "Boolean":
      return { type: "bool", value: source === "True" };
    case "None":
      return { type: "none", value: null };
    case "VariableName":
      return constant(source);
    case "ParenthesizedExpression":
      return inner(children(node)[1]);
    case "UnaryExpression": {
      const value = inner(children(node)[1]);
      const sign = text.slice(node.from, node.from + 1);
      if (!isNumber(value) || (sign !== "-" && sign !== "+")) return null;
      return sign === "-" ? { type: value.type, value: -value.value } : value;
    }
    case "BinaryExpression": {
      const [left, sign, right] = children(node);
      return calculated(inner(left), text.slice(sign.from, sign.to), inner(right));
    }
    case "TupleExpression":
    case "ArrayExpression": {
      const list = elements(node).map((part) => (part.length === 1 ? inner(part[0]) : null));
      const type = node.name === "TupleExpression" ? "tuple" : "list";
      const known = list.filter((value) => value !== null);
      return known.length === list.length ? { type, value: known } : null;
    }
    default:
      return null;
  }
}

/** @param {string} source @returns {Value | null} */
function numberOf(source) {
  const value = Number(source.replaceAll("_", ""));
  if (Number.isNaN(value)) return null;
  return {
    type: /^(\d+|0[xob][\da-f]+)$/i.test(source.replaceAll("_", "")) ? "int" : "float",
    value,
  };
}

/** @param {Value | null} value @returns {value is {type: "int" | "float", value: number}} */
export const isNumber = (value) => value?.type === "int" || value?.type === "float";

/** @param {Value | null} left @param {string} sign @param {Value | null} right @returns {Value | null} */
function calculated(left, sign, right) {
  if (!isNumber(left) || !isNumber(right)) return null;
  const [a, b] = [left.value, right.value];
  const type = left.type === "int" && right.type === "int" && sign !== "/" ? "int" : "float";
  /** @type {Record<string, () => number>} */
  const results = {
    "+": () => a + b,
    "-": () => a - b,
    "*": () => a * b,
    "/": () => a / b,
    "//": () => Math.floor(a / b),
    "%": () => a - b * Math.floor(a / b),
    "**": () => a ** b,
  };
  const result = results[sign]?.();
  return result === undefined || !Number.isFinite(result) ? null : { type, value: result };
}
