/** Changes of values in a program: arguments, classes and the seed. */

import { diffLines } from "../editor/code-diff.js";
import { argumentOf, defaultOf, literalOf } from "./calls.js";
import {
  applyChanges,
  insertElement,
  insertion,
  lineStart,
  removal,
  removeElement,
} from "./lists.js";
import { writtenName } from "./names.js";
import { readProgram } from "./reader.js";
import { parametersOf } from "./signatures.js";

/** @import { Call, Change, Program, Value } from "./types.js" */

/**
 * Set a parameter of a call: its value is replaced in place, or a keyword argument added. One that
 * gets its default is removed, unless it is a number, which many like to see.
 * @param {Program} program
 * @param {Call} call
 * @param {string} parameter
 * @param {string} value the text of the new value
 * @returns {Change[]}
 */
export function setArgument({ text }, call, parameter, value) {
  const given = argumentOf(call, parameter);
  const isDefault = sameValue(literalOf(value), defaultOf(call.name, parameter));
  if (!given) {
    const list = { inside: call.inside, elements: call.elements };
    return isDefault
      ? []
      : insertElement(text, list, call.elements.length, `${parameter}=${value}`);
  }
  if (given.text === value) return [];
  const type = defaultOf(call.name, parameter)?.type ?? "";
  if (isDefault && given.keyword && ["none", "bool", "string"].includes(type)) {
    return removeArgument(text, call, parameter);
  }
  return [{ from: given.at, to: given.at + given.text.length, insert: value }];
}

/** @param {string} text @param {Call} call @param {string} parameter @returns {Change[]} */
function removeArgument(text, call, parameter) {
  const given = argumentOf(call, parameter);
  const index = call.elements.findIndex(({ from }) => from === given?.from);
  return index < 0
    ? []
    : removeElement(text, { inside: call.inside, elements: call.elements }, index);
}

/** @param {Value | null} a @param {Value | null} b */
const sameValue = (a, b) =>
  a !== null && b !== null && JSON.stringify(a.value) === JSON.stringify(b.value);

/**
 * Put another class in place of the one that is called; arguments that it does not have are dropped.
 * @param {Program} program
 * @param {Call} call
 * @param {string} full such as "optim.SGD"
 * @returns {Change[]}
 */
export function setClass(program, call, full) {
  const parameters = (parametersOf(full) ?? []).map(({ name }) => name);
  let current = program;
  let left = call;
  for (;;) {
    const index = left.arguments.findIndex(({ keyword, parameter }, i) =>
      keyword ? !parameters.includes(keyword) : parameters[i] !== parameter,
    );
    if (index < 0) break;
    const at = left.elements.findIndex(({ from }) => from === left.arguments[index].from);
    const text = applyChanges(current.text, removeElement(current.text, left, at));
    current = readProgram(text);
    const next = callsOf(current).find(
      ({ from, name }) => from === call.from && name === call.name,
    );
    if (!next) return [];
    left = next;
  }
  const { name, changes } = nameFor(current, full);
  const prefix = current.text.slice(left.from, left.kindAt.from);
  const last = full.slice(full.lastIndexOf(".") + 1);
  const changed =
    prefix !== "" && prefix.endsWith(".")
      ? [{ ...left.kindAt, insert: last }]
      : [...changes, { from: left.from, to: left.inside.from - 1, insert: name }];
  return difference(program.text, applyChanges(current.text, changed));
}

/** All calls that the cards show. @param {Program} program @returns {Call[]} */
export function callsOf({ data, networks, trainings, seed }) {
  const items = networks.flatMap((network) => network.items.map(({ call }) => call));
  const training = trainings.flatMap((each) => [
    each.compile,
    each.fit,
    each.optimizer,
    each.schedule,
  ]);
  const calls = [...data, ...items, ...training, seed].filter((call) => call !== null);
  const inner = (/** @type {Call} */ call) =>
    /** @type {Call[]} */ (call.arguments.map((each) => each.call).filter(Boolean));
  return calls.flatMap((call) => [call, ...inner(call)]);
}

/** The one change between two texts. @param {string} before @param {string} after @returns {Change[]} */
export function difference(before, after) {
  if (before === after) return [];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end])
    end += 1;
  return [{ from: start, to: before.length - end, insert: after.slice(start, after.length - end) }];
}

/**
 * The changes between two texts, each within lines that differ: locked lines between them are left alone.
 * @param {string} before
 * @param {string} after
 * @returns {Change[]}
 */
export function changesByLine(before, after) {
  /** @type {Change[]} */
  const changes = [];
  let at = 0; // with a line break after each line, also after the last
  let hunk = { from: 0, to: 0, insert: "" };
  const finish = () => {
    // The break after the last line is not in the text: the one before that line stands for it.
    const isLast = hunk.to > before.length && (hunk.to > hunk.from || hunk.insert !== "");
    const start = isLast ? Math.max(0, hunk.from - 1) : hunk.from;
    const lines = isLast && hunk.from > 0 ? `\n${hunk.insert}` : hunk.insert;
    const insert = isLast ? lines.slice(0, -1) : lines;
    for (const { from, to, ...change } of difference(before.slice(start, hunk.to), insert)) {
      changes.push({ from: start + from, to: start + to, ...change });
    }
  };
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === "same") {
      finish();
      at += text.length + 1;
      hunk = { from: at, to: at, insert: "" };
    } else if (kind === "removed") {
      at += text.length + 1;
      hunk.to = at;
    } else {
      hunk.insert += `${text}\n`;
    }
  }
  finish();
  return changes;
}

/**
 * The name by which the program calls a class, and the import that it lacks.
 * @param {Program} program
 * @param {string} full such as "nn.Dense"
 * @returns {{name: string, changes: Change[]}}
 */
export function nameFor({ text, names }, full) {
  const written = writtenName(full, names);
  if (written !== null) return { name: written, changes: [] };
  const module = full.split(".")[0];
  const line = module === full ? "import playgrad as pg" : `from playgrad import ${module}`;
  const insert = names.importsEnd > 0 ? `\n${line}` : `${line}\n`;
  const name = module === full ? `pg.${full}` : full;
  return {
    name,
    changes: [insertion(names.importsEnd > 0 ? names.importsEnd : docstringEnd(text), insert)],
  };
}

/** Where the line after a docstring begins. @param {string} text */
function docstringEnd(text) {
  const docstring = /^\s*("""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')[ \t]*\n/.exec(text);
  return docstring ? docstring[0].length : 0;
}

/** Set the seed of the random numbers; 0, the default, removes the call. @param {Program} program @param {number} seed @returns {Change[]} */
export function setSeed(program, seed) {
  const { text } = program;
  const call = program.seed;
  if (!call) {
    if (seed === 0) return [];
    const { name, changes } = nameFor(program, "reset_default_graph");
    const at = program.names.importsEnd > 0 ? program.names.importsEnd : docstringEnd(text);
    return [
      ...changes,
      insertion(at, `${at > 0 ? "\n\n" : ""}${name}(seed=${seed})${at > 0 ? "" : "\n"}`),
    ];
  }
  if (seed !== 0) return setArgument(program, call, "seed", String(seed));
  const from = lineStart(text, call.from);
  const end = text.indexOf("\n", call.to);
  const to = end < 0 ? text.length : end + 1;
  if (text.slice(from, to).trim() !== text.slice(call.from, call.to))
    return setArgument(program, call, "seed", "0");
  // With the empty line before it, where there is one after it, too.
  const hasGap = text.slice(0, from).endsWith("\n\n") && (to >= text.length || text[to] === "\n");
  return [removal(hasGap ? from - 1 : from, to)];
}
