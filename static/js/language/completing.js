/** The names that can follow at a place of a program. */

import { signature } from "./signatures.js";
import { enclosing, readArguments } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program, Value } from "./program.js"
 * @import { Named } from "./names.js"
 *
 * @typedef {object} Suggestion
 * @property {string} label
 * @property {string} kind an icon of the completion list: class, function, method, property, ...
 * @property {string} [detail] a short signature
 * @property {string} [name] the full name, for the explanation
 * @property {string} [parameter] the parameter of `name` that it is
 * @property {number} [boost] moves it up
 * @property {string} [insert] what is inserted, if it is not the label
 *
 * @typedef {object} Suggestions
 * @property {number} from where the word begins that they complete
 * @property {Suggestion[]} options
 * @property {"member" | "import" | "argument"} place
 */

const KINDS = {
  c: "class",
  f: "function",
  m: "method",
  p: "property",
  o: "namespace",
  d: "constant",
};
const SILENT = ["String", "FormatString", "Comment", "Number"];

/**
 * Suggest names for the word that ends at `at`.
 * @param {Program} program
 * @param {number} at
 * @returns {Suggestions | null}
 */
export function suggest(program, at) {
  const node = program.tree.resolveInner(at, -1);
  if (SILENT.includes(node.name)) return null;
  const word = /[A-Za-z_]\w*$/.exec(program.code.slice(Math.max(0, at - 80), at))?.[0] ?? "";
  const from = at - word.length;
  const statement = enclosing(node, "ImportStatement");
  if (statement) return importable(program, statement, from);
  if (program.code[from - 1] === ".") return members(program, from);
  return word ? keywords(program, node, from) : null;
}

/** @param {Program} program @param {number} from @returns {Suggestions | null} */
function members(program, from) {
  const expression = enclosing(program.tree.resolveInner(from, -1), "MemberExpression");
  const owner = expression?.firstChild;
  if (!owner || owner.to >= from) return null;
  const value = program.value(owner);
  const options = value ? optionsOf(program, value) : [];
  return options.length ? { from, options, place: "member" } : null;
}

/** @param {Program} program @param {Value} value @returns {Suggestion[]} */
function optionsOf(program, value) {
  const owner = value.kind === "name" ? value.name : value.kind === "instance" ? value.of : null;
  if (owner === null) return [];
  const isCallable =
    value.kind === "name" && !["o", "c"].includes(program.names.entry(owner)?.k ?? "");
  if (isCallable) return [];
  return [...program.names.members(owner)].map(([short, each]) => option(short, each));
}

/** @param {string} short @param {Named} named @returns {Suggestion} */
function option(short, { name, entry }) {
  const detail = entry.p ? signature(entry, 28) : undefined;
  return { label: short, kind: KINDS[entry.k ?? "d"], detail, name };
}

/** @param {Program} program @param {SyntaxNode} statement @param {number} from @returns {Suggestions | null} */
function importable(program, statement, from) {
  const text = program.code.slice(statement.from, from);
  const inside = /^from\s+([\w.]+)\s+import\b(?:[\s(,]|\b\w+\b|#.*\n)*$/.exec(text);
  const dotted = /^(?:from|import)\s+(?:.*,\s*)?([\w.]*)\.$/.exec(text);
  const module = inside?.[1] ?? dotted?.[1];
  if (module === undefined || /\bas\s+$/.test(text)) {
    if (!/^(?:from|import)\s+$/.test(text)) return null;
    return { from, options: [{ label: "playgrad", kind: "namespace", name: "" }], place: "import" };
  }
  const value = program.imported(module);
  if (value?.kind !== "name") return null;
  const all = [...program.names.members(value.name)].map(([short, each]) => option(short, each));
  const options = inside ? all : all.filter(({ kind }) => kind === "namespace");
  return options.length ? { from, options, place: "import" } : null;
}

/** Keyword arguments that the call around a word can still take. @param {Program} program @param {SyntaxNode} node @param {number} from @returns {Suggestions | null} */
function keywords(program, node, from) {
  const list = enclosing(
    node,
    "ArgList",
    "ArrayExpression",
    "DictionaryExpression",
    "LambdaExpression",
    "Body",
  );
  const callee = list?.name === "ArgList" ? list.parent?.firstChild : null;
  if (!list || !callee || !isStartOfArgument(program, from)) return null;
  const value = program.value(callee);
  const name =
    value?.kind === "name" ? value.name : value?.kind === "instance" ? `${value.of}.call` : null;
  const parameters = name === null ? null : program.names.parameters(name);
  if (name === null || !parameters) return null;
  const given = readArguments(list, program.code).filter(
    (each) => each.from < from || each.from > from,
  );
  const positional = given.filter((each) => each.name === null && each.to < from).length;
  const used = new Set(given.map((each) => each.name));
  const options = parameters
    .filter(
      ([parameter], position) =>
        position >= positional && !parameter.startsWith("*") && !used.has(parameter),
    )
    .map(([parameter, fallback, annotation]) => ({
      label: `${parameter}=`,
      kind: "variable",
      detail: fallback && fallback !== "…" ? fallback : annotation,
      name,
      parameter,
      boost: 1,
    }));
  return options.length ? { from, options, place: "argument" } : null;
}

/** @param {Program} program @param {number} from @returns {boolean} */
const isStartOfArgument = (program, from) =>
  /[(,]\s*(?:#.*\n\s*)*$/.test(program.code.slice(Math.max(0, from - 400), from));
