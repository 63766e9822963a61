/** Names of other libraries in a program, and what to write instead. */

import { t } from "../words/locale.js";
import { argumentProblems } from "./argument-problems.js";
import { importProblems } from "./import-problems.js";
import { ownLayers } from "./keras-layers.js";
import { nearest } from "./nearest.js";
import { Program } from "./program.js";
import { removalOf } from "./removal.js";
import { rewrite } from "./rewriting.js";
import { Speller } from "./spelling.js";
import { torchLoops } from "./torch-loops.js";
import { torchNames } from "./torch-names.js";
import { children } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Foreign } from "./program.js"
 * @import { Translator } from "./translator.js"
 * @import { Change } from "./spelling.js"
 *
 * @typedef {object} Problem
 * @property {number} from
 * @property {number} to
 * @property {string} message
 * @property {string} [label] of the fix
 * @property {Change[]} [changes] the fix, if there is one
 * @property {boolean} [isFirst] whether its fix comes before others, as it needs names that they change
 * @property {boolean} [isImport] whether other fixes come first
 * @property {boolean} [isGuess] whether the name may just be unfinished
 * @property {boolean} [isLoss] whether the fix drops something of which it is not known that it does not matter
 */

/** @param {Program} program whose `others` is `translator` @param {Translator} translator @returns {Problem[]} */
export function findProblems(program, translator) {
  const problems = [
    ...nameProblems(program, translator),
    ...argumentProblems(program, translator),
    ...importProblems(program, translator),
    ...ownLayers(program),
    ...(program.packages.has("torch") ? [...torchLoops(program), ...torchNames(program)] : []),
  ];
  return problems.sort((a, b) => a.from - b.from || a.to - b.to);
}

/**
 * The fixes that can be made at once, fixes of imports last. A fix that drops something that may matter is left
 * to the reader: without it the program would run, and compute something else.
 * @param {Problem[]} problems
 * @returns {Change[]}
 */
export function fixTogether(problems) {
  const fixable = problems.filter(({ changes, isLoss }) => changes?.length && !isLoss);
  const turns = [
    fixable.filter(({ isFirst }) => isFirst),
    fixable.filter(({ isImport }) => !isImport),
    fixable,
  ];
  /** @type {Change[]} */
  const taken = [];
  const now = turns.find((each) => each.length) ?? [];
  // Of a chain of members, the whole before its parts.
  for (const { changes = [] } of now.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const fresh = changes.filter((each) => !taken.some((other) => isSame(each, other)));
    if (!fresh.some((each) => taken.some((other) => overlap(each, other)))) taken.push(...fresh);
  }
  return taken.sort((a, b) => a.from - b.from || a.to - b.to);
}

/** @param {Change} a @param {Change} b */
const isSame = (a, b) => a.from === b.from && a.to === b.to && a.insert === b.insert;
/** @param {Change} a @param {Change} b */
const overlap = (a, b) =>
  (a.from < b.to && b.from < a.to) || (a.from === b.from && a.from === a.to && b.from === b.to);

/** @param {Program} program @param {Translator} translator @returns {Problem[]} */
function nameProblems(program, translator) {
  /** @type {Problem[]} */
  const problems = [];
  const isOpen = /^\s*from\s+\S+\s+import\s+\*/m.test(program.code);
  program.tree.iterate({
    enter({ node }) {
      if (node.name === "ImportStatement") return false;
      if (node.name === "Decorator") problems.push(...decoratorProblem(program, translator, node));
      if (node.name !== "MemberExpression" && (node.name !== "VariableName" || !isRead(node)))
        return true;
      if (isOpen && node.name === "VariableName" && !program.binding(program.text(node), node.from))
        return true;
      const { parent } = node;
      const isInner = parent?.name === "MemberExpression" && parent.firstChild?.from === node.from;
      if (isInner && program.value(parent)?.kind === "foreign") return true;
      const value = program.value(node);
      if (value?.kind === "foreign") {
        const problem = problemOf(program, translator, node, value);
        const isMethod = value.paths[0]?.startsWith("torch.Tensor.");
        if (problem.changes || !isMethod || translator.translate(value.paths)?.rule.no)
          problems.push(problem);
      }
      return true;
    },
  });
  return problems;
}

/** Whether a variable is read here, not bound. @param {SyntaxNode} node */
function isRead(node) {
  const { parent } = node;
  if (
    !parent ||
    ["ParamList", "FunctionDefinition", "ClassDefinition", "ScopeStatement", "Decorator"].includes(
      parent.name,
    )
  )
    return false;
  const next = node.nextSibling?.name;
  if (parent.name === "ArgList") return next !== "AssignOp";
  if (parent.name === "AssignStatement")
    return !children(parent).some((each) => each.name === "AssignOp" && each.from > node.from);
  return !(parent.name === "ForStatement" && next === "in") && node.prevSibling?.name !== "as";
}

/** A decorator of another library, whose name is no expression in the tree. @param {Program} program @param {Translator} translator @param {SyntaxNode} node @returns {Problem[]} */
function decoratorProblem(program, translator, node) {
  const [, first, ...rest] = children(node);
  /** @type {import("./program.js").Value | null} */
  let value = first?.name === "VariableName" ? program.value(first) : null;
  for (const each of rest)
    if (/Name$/.test(each.name)) value = program.attribute(value, program.text(each));
  if (value?.kind !== "foreign") return [];
  const names = children(node).filter(({ name }) => /Name$/.test(name));
  const place = { from: first.from, to: names[names.length - 1].to };
  const words = t().bridge;
  const found = translator.translate(value.paths)?.rule;
  const reason = found?.no ?? translator.reason(value);
  const message = words.isNot(program.text(place), reason && words.said(reason));
  if (!found?.drop) return [{ ...place, message }];
  const end = program.code.indexOf("\n", node.from) + 1;
  const indent = /\s*/.exec(program.code.slice(end))?.[0].length ?? 0;
  const changes = [{ from: node.from, to: end + indent, insert: "" }];
  return [{ ...place, message, label: words.removeLine, changes }];
}

/** @param {Program} program @param {Translator} translator @param {SyntaxNode} node @param {Foreign} value @returns {Problem} */
function problemOf(program, translator, node, value) {
  const written = program.text(node);
  const place = { from: node.from, to: node.to };
  const words = t().bridge;
  const found = translator.translate(value.paths);
  if (!found)
    return { ...place, ...unknown(program, translator, node, value), isGuess: value.guessed };
  const speller = new Speller(program, node.from);
  const removal = found.rule.drop ? removalOf(program, node) : null;
  const changes = removal ? null : rewrite(program, found.rule, node, speller);
  const reason = found.rule.no && words.said(found.rule.no);
  if (changes?.length) {
    const here = short(changes[0].insert);
    return {
      ...place,
      message: words.is(written, here, reason),
      label: words.write(here),
      changes: [...speller.importChanges(), ...changes],
    };
  }
  const message = words.isNot(written, reason);
  return removal
    ? { ...place, message, label: words.removeLine, changes: removal }
    : { ...place, message };
}

/** @param {Program} program @param {Translator} translator @param {SyntaxNode} node @param {Foreign} value */
function unknown(program, translator, node, value) {
  const words = t().bridge;
  const written = program.text(node);
  const owner =
    node.firstChild && node.name === "MemberExpression" ? program.value(node.firstChild) : null;
  const property = node.lastChild;
  if (owner?.kind === "name" && property) {
    const close = nearest(program.text(property), program.names.members(owner.name).keys());
    const fix = close !== null && {
      label: words.write(close),
      changes: [{ from: property.from, to: property.to, insert: close }],
    };
    if (fix) return { message: words.isNotBut(written, close), ...fix };
  }
  const reason = translator.reason(value);
  return { message: words.isNot(written, reason && words.said(reason)) };
}

/** @param {string} text */
const short = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

/** Rounds of fixes: one may make another possible. */
const MOST_ROUNDS = 24;

/**
 * Make all fixes, in rounds.
 * @param {string} code
 * @param {(code: string) => import("./tree.js").Tree} parse
 * @param {import("./names.js").Names} names
 * @param {Translator} translator
 * @returns {Change[][]} the changes of each round, in the text that the round before has left
 */
export function translate(code, parse, names, translator) {
  /** @type {Change[][]} */
  const rounds = [];
  let text = code;
  while (rounds.length < MOST_ROUNDS) {
    const changes = fixTogether(
      findProblems(new Program(text, parse(text), names, translator), translator),
    );
    if (!changes.length) break;
    rounds.push(changes);
    text = changed(text, changes);
  }
  return rounds;
}

/** @param {string} code @param {Change[]} changes in order */
export function changed(code, changes) {
  let text = "";
  let at = 0;
  for (const { from, to, insert } of changes) {
    text += code.slice(at, from) + insert;
    at = to;
  }
  return text + code.slice(at);
}
