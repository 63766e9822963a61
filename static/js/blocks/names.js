/** The names of a program: imports from the library, and variables that hold one value. */

import { meaningOf, readImport } from "../language/bindings.js";
import { assignment, children, evaluate, walk } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Names, Value } from "./types.js" */

const LIBRARY = "playgrad";

/** @param {Node} script @param {string} text @returns {Names} */
export function readImports(script, text) {
  const imported = new Map();
  let importsEnd = 0;
  let isBeginning = true;
  for (const statement of children(script)) {
    if (statement.name === "ImportStatement") {
      for (const [name, full] of importsOf(statement, text)) imported.set(name, full);
      if (isBeginning) importsEnd = statement.to;
    } else if (importsEnd > 0) {
      isBeginning = false;
    }
  }
  return { imported, importsEnd };
}

/** Names of the program with full names of the library. @param {Node} statement @param {string} text @returns {[string, string][]} */
const importsOf = (statement, text) =>
  readImport(statement, text).flatMap((item) => {
    const full = inLibrary(meaningOf(item));
    return full === null ? [] : [[item.bound, full]];
  });

/** "playgrad.nn.Dense" is "nn.Dense"; null for names of other libraries. @param {string} path */
function inLibrary(path) {
  if (path === LIBRARY) return "";
  return path.startsWith(`${LIBRARY}.`) ? path.slice(LIBRARY.length + 1) : null;
}

/** The dotted name of an expression, "" if it is another expression. @param {Node} node @param {string} text @returns {string} */
export function dottedName(node, text) {
  if (node.name === "VariableName") return text.slice(node.from, node.to);
  if (node.name !== "MemberExpression") return "";
  const [object, dot, property, ...rest] = children(node);
  if (dot.name !== "." || !property || rest.length > 0) return "";
  const prefix = dottedName(object, text);
  return prefix && `${prefix}.${text.slice(property.from, property.to)}`;
}

/** The full name of a name of the program: "pg.nn.Dense" is "nn.Dense"; "" if it is not the library's. @param {string} name @param {Names} names */
export function fullName(name, names) {
  const [first, ...rest] = name.split(".");
  const base = names.imported.get(first);
  if (base === undefined) return "";
  const full = [base, ...rest].filter(Boolean).join(".");
  return CANONICAL[full] ?? full;
}

/** Names that exist in two places. @type {Record<string, string>} */
const CANONICAL = {
  Sequential: "nn.Sequential",
  Model: "nn.Model",
  Input: "nn.Input",
};

/** A full name as the program writes it; null if it lacks the import. @param {string} full @param {Names} names */
export function writtenName(full, names) {
  const entries = [...names.imported];
  const exact = entries.find(([, meaning]) => meaning === full);
  if (exact) return exact[0];
  const [module, rest] = [full.split(".")[0], full.split(".").slice(1).join(".")];
  const outer = entries.find(([, meaning]) => meaning === module);
  if (outer && rest) return `${outer[0]}.${rest}`;
  const library = entries.find(([, meaning]) => meaning === "");
  return library ? `${library[0]}.${full}` : null;
}

/**
 * Names that hold one value as long as the program runs: bound once, by an assignment of the module.
 * @param {Node} script
 * @param {string} text
 */
export function readConstants(script, text) {
  const counts = bindingCounts(script, text);
  /** @type {Map<string, Node>} */
  const assigned = new Map();
  for (const statement of statementsOf(script)) {
    if (statement.name !== "AssignStatement") continue;
    const { targets, values } = assignment(statement);
    if (targets.length !== 1 || targets[0].length !== values.length) continue;
    targets[0].forEach((target, i) => {
      const name = text.slice(target.from, target.to);
      if (target.name === "VariableName" && counts.get(name) === 1) assigned.set(name, values[i]);
    });
  }
  /** @type {Map<string, Value | null>} */
  const values = new Map();
  /** @param {string} name @returns {Value | null} */
  const constant = (name) => {
    const node = assigned.get(name);
    if (!node) return null;
    if (!values.has(name)) {
      values.set(name, null); // while it is evaluated: a constant cannot be part of itself
      const value = evaluate(node, text, constant);
      values.set(name, value?.type === "list" ? null : value); // the program may change a list
    }
    return values.get(name) ?? null;
  };
  return { constant, expression: (/** @type {string} */ name) => assigned.get(name) ?? null };
}

/** The statements of a block, including statements after a semicolon. @param {Node} block @returns {Node[]} */
export const statementsOf = (block) =>
  children(block).flatMap((node) => (node.name === "StatementGroup" ? children(node) : [node]));

/** The number of bindings of each name, anywhere. @param {Node} script @param {string} text */
function bindingCounts(script, text) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  walk(script, (node) => {
    for (const name of boundNames(node, text)) counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  return counts;
}

/** The names that a node itself binds. @param {Node} node @param {string} text @returns {string[]} */
export function boundNames(node, text) {
  const word = (/** @type {Node} */ each) => text.slice(each.from, each.to);
  const nodes = children(node);
  switch (node.name) {
    case "AssignStatement":
      return assignment(node)
        .targets.flat()
        .flatMap((target) => variablesIn(target, text));
    case "UpdateStatement":
    case "NamedExpression":
      return variablesIn(nodes[0], text);
    case "ScopeStatement":
    case "DeleteStatement":
      return variablesIn(node, text);
    case "ParamList":
      return nodes.filter(({ name }) => name === "VariableName").map(word);
    case "FunctionDefinition":
    case "ClassDefinition":
      return nodes
        .filter(({ name }) => name === "VariableName")
        .slice(0, 1)
        .map(word);
    case "WithStatement":
    case "TryStatement":
    case "ImportStatement":
      return nodes
        .filter(({ name }, i) => name === "VariableName" && nodes[i - 1]?.name === "as")
        .map(word);
    default: {
      if (node.name !== "ForStatement" && !node.name.endsWith("ComprehensionExpression")) return [];
      const begin = nodes.findIndex(({ name }) => name === "for");
      const end = nodes.findIndex(({ name }) => name === "in");
      return nodes.slice(begin + 1, end).flatMap((each) => variablesIn(each, text));
    }
  }
}

/** Variables of a target; an index of an element is read. @param {Node} node @param {string} text @returns {string[]} */
function variablesIn(node, text) {
  /** @type {string[]} */
  const found = [];
  const visit = (/** @type {Node} */ each) => {
    if (each.name === "VariableName") found.push(text.slice(each.from, each.to));
    for (const child of children(each).slice(0, each.name === "MemberExpression" ? 1 : undefined))
      visit(child);
  };
  visit(node);
  return found;
}
