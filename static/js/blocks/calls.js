/** Calls in a program, with their arguments bound to parameters. */

import { dottedName, fullName } from "./names.js";
import { parametersOf } from "./signatures.js";
import { children, elements, evaluate, parse } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Argument, Brought, Call, Names, Value } from "./types.js" */

/**
 * @typedef {object} Source a program that is being read
 * @property {string} text
 * @property {Names} names
 * @property {Brought} brought
 * @property {(name: string) => Value | null} constant the value of a name that holds one value
 * @property {(name: string) => Node | null} expression the expression that such a name stands for
 */

/**
 * Read a call of the library, or of a method under the name `method`.
 * @param {Node} node
 * @param {Source} source
 * @param {string} [method] such as "Model.fit"
 * @returns {Call | null} null if it calls something else
 */
export function readCall(node, source, method) {
  if (node.name !== "CallExpression") return null;
  const [callee, list] = children(node);
  if (list?.name !== "ArgList") return null;
  const name = method ?? fullName(dottedName(callee, source.text), source.names);
  if (!name) return null;
  const last = callee.lastChild ?? callee;
  const kind = name.slice(name.lastIndexOf(".") + 1);
  const closes = list.lastChild?.name === ")";
  const inside = { from: list.from + 1, to: list.to - (closes ? 1 : 0) };
  const kindAt = { from: last.from, to: last.to };
  const { read, starred } = readArguments(list, source, name);
  const ranges = elements(list).map((part) => ({
    from: part[0].from,
    to: part[part.length - 1].to,
  }));
  return {
    name,
    kind,
    kindAt,
    arguments: read,
    inside,
    elements: ranges,
    starred,
    from: node.from,
    to: node.to,
  };
}

/** @param {Node} list @param {Source} source @param {string} name */
function readArguments(list, source, name) {
  const parameters = parametersOf(name);
  let position = 0;
  let starred = false;
  /** @type {Argument[]} */
  const read = [];
  for (const part of elements(list)) {
    const [first, sign] = part;
    if (first.name === "*" || first.name === "**") {
      starred = true;
      continue;
    }
    const isKeyword = sign?.name === "AssignOp";
    const value = isKeyword ? part[2] : first;
    if (!value || (!isKeyword && part.length > 1)) continue; // incomplete, or a generator
    const keyword = isKeyword ? source.text.slice(first.from, first.to) : null;
    const byPosition = starred ? null : (parameters?.[position]?.name ?? null);
    if (!isKeyword) position += 1;
    read.push({
      keyword,
      parameter: keyword ?? byPosition,
      value: evaluate(value, source.text, source.constant),
      literal: isLiteral(value, source.text),
      text: source.text.slice(value.from, value.to),
      call: readCall(value, source),
      at: value.from,
      from: first.from,
      to: value.to,
    });
  }
  return { read, starred };
}

/** Whether the text is a value without calculation, which a control can replace. @param {Node} node @param {string} text */
function isLiteral(node, text) {
  return node.name !== "BinaryExpression" && evaluate(node, text) !== null;
}

/** The argument that sets a parameter. @param {Call | null} call @param {string} parameter */
export const argumentOf = (call, parameter) =>
  call?.arguments.find((each) => each.parameter === parameter) ?? null;

/**
 * The value of a parameter: given, or the default.
 * @param {Call} call
 * @param {string} parameter
 * @returns {Value | null} null if the program computes it
 */
export function valueOf(call, parameter) {
  const given = argumentOf(call, parameter);
  if (given) return given.value;
  return call.starred ? null : defaultOf(call.name, parameter);
}

/** The default of a parameter; null if it has none. @param {string} name @param {string} parameter @returns {Value | null} */
export function defaultOf(name, parameter) {
  const text = parametersOf(name)?.find((each) => each.name === parameter)?.default ?? null;
  return text === null ? null : literalOf(text);
}

/** The value of the text of a literal; null for other text. @param {string} text @returns {Value | null} */
export function literalOf(text) {
  const statements = children(parse(text));
  const [expression, ...rest] = statements.length === 1 ? children(statements[0]) : [];
  const isWhole = expression && rest.length === 0 && expression.to === text.length;
  return isWhole ? evaluate(expression, text) : null;
}
