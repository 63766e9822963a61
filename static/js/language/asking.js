/** What stands at a place of a program: a known name, or a known call. */

import { enclosing, readArguments } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 *
 * @typedef {object} Call
 * @property {string} name of what is called
 * @property {number} from where the called expression begins
 * @property {number} list where the parentheses begin
 * @property {number} parameter the number of the parameter at the place; -1 if there is none
 */

/** The call in whose parentheses a place is. @param {Program} program @param {number} at @returns {Call | null} */
export function callAt(program, at) {
  const list = enclosing(listAround(program, at), "ArgList");
  const callee = list?.parent?.firstChild;
  const value = callee ? program.value(callee) : null;
  const name = value?.kind === "name" ? value.name : null;
  const parameters = name === null ? null : program.names.parameters(name);
  if (!list || !callee || name === null || !parameters) return null;
  return {
    name,
    from: callee.from,
    list: list.from,
    parameter: parameterAt(
      program,
      list,
      parameters.map(([each]) => each),
      at,
    ),
  };
}

/** The innermost list of arguments around a place; null inside brackets, texts and functions. @param {Program} program @param {number} at @returns {SyntaxNode | null} */
function listAround(program, at) {
  /** @type {SyntaxNode | null} */
  let node = program.tree.resolveInner(at, -1);
  while (node) {
    const isInside =
      node.from < at && (at < node.to || !/[)\]}]/.test(program.code[node.to - 1] ?? ""));
    if (node.name === "ArgList" && isInside) return node;
    if (
      ["ArrayExpression", "DictionaryExpression", "LambdaExpression", "Body", "Comment"].includes(
        node.name,
      ) &&
      isInside
    )
      return null;
    node = node.parent;
  }
  return null;
}

/** @param {Program} program @param {SyntaxNode} list @param {string[]} parameters @param {number} at */
function parameterAt(program, list, parameters, at) {
  const given = readArguments(list, program.code);
  const current = given.find((each) => each.from <= at && at <= each.to);
  if (current?.name) return parameters.indexOf(current.name);
  const before = given.filter((each) => each.to < at && each !== current);
  const isKeyword = before.some((each) => each.name !== null);
  if (isKeyword) return -1;
  const variadic = parameters.findIndex((each) => each.startsWith("*"));
  return before.length < parameters.length ? before.length : variadic;
}

/** The known name at a place, or the argument of a known call. @param {Program} program @param {number} at @returns {{name: string, from: number, to: number} | null} */
export function nameAt(program, at) {
  for (const side of /** @type {const} */ ([1, -1])) {
    const node = program.tree.resolveInner(at, side);
    if (node.name !== "PropertyName" && node.name !== "VariableName") continue;
    const asked = node.name === "PropertyName" ? node.parent : node;
    const value = asked ? valueAt(program, node, asked) : null;
    const name = value?.kind === "name" ? value.name : value?.kind === "instance" ? value.of : null;
    if (name !== null && program.names.entry(name)) return { name, from: node.from, to: node.to };
  }
  return null;
}

/** @param {Program} program @param {SyntaxNode} node @param {SyntaxNode} asked */
function valueAt(program, node, asked) {
  if (node.parent?.name === "ImportStatement") {
    const item = program.bindings.find(
      ({ item: each }) => each && each.from <= node.from && node.to <= each.to,
    )?.item;
    return item ? program.imported(item.path) : null;
  }
  if (node.name === "PropertyName" && asked.firstChild) {
    const owner = program.value(asked.firstChild);
    const of = owner?.kind === "name" ? owner.name : owner?.kind === "instance" ? owner.of : null;
    const member = of === null ? null : program.names.member(of, program.text(node));
    return member ? { kind: /** @type {const} */ ("name"), name: member.name } : null;
  }
  if (node.parent?.name === "ArgList" && node.nextSibling?.name === "AssignOp") return null;
  return program.value(node);
}
