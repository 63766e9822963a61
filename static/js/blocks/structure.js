/** Changes of the structure of a network: layers are added, removed, exchanged and duplicated. */

import { argumentOf } from "./calls.js";
import { difference, nameFor } from "./edits.js";
import {
  applyChanges,
  indentAt,
  insertElement,
  insertion,
  lineStart,
  removal,
  removeElement,
  swapElements,
  swapTexts,
} from "./lists.js";
import { readProgram } from "./reader.js";

/** @import { Call, Change, Item, Network, Place, Program, Range } from "./types.js" */

/** @param {Place & {type: "list"}} place */
const listOf = ({ list, elements }) => ({
  inside: { from: list.from + 1, to: list.to - 1 },
  elements,
});

/** Where a statement's line ends, after the line break. @param {string} text @param {number} position */
function lineEnd(text, position) {
  const end = text.indexOf("\n", position);
  return end < 0 ? text.length : end + 1;
}

/**
 * @param {Program} program
 * @param {Network} network
 * @param {number} index the number of items before the new layer
 * @param {string} full the class, such as "nn.Dense"
 * @param {string} given the text of its arguments
 * @returns {Change[] | null} null if the program has no place for a layer there
 */
export function addLayer(program, network, index, full, given) {
  const { name, changes } = nameFor(program, full);
  const placed = placeText(program.text, network, index, `${name}(${given})`);
  return placed && [...changes, ...placed];
}

/** @param {Network} network @param {number} index */
export const canAdd = (network, index) => placeText("", network, index, "") !== null;

/** @param {string} text @param {Network} network @param {number} index @param {string} added @returns {Change[] | null} */
function placeText(text, network, index, added) {
  const [before, after] = [network.items[index - 1], network.items[index]];
  if (network.items.length === 0 && network.list) {
    return insertElement(text, { inside: insideOf(network.list), elements: [] }, 0, added);
  }
  if (network.items.length === 0) return null;
  if ((before ?? after).place.type === "list")
    return inList(text, /** @type {Item} */ (before ?? after), Boolean(before), added);
  if (after?.type === "input") return null;
  return (
    (before ? placeAfter(text, before, added) : null) ??
    (after ? placeBefore(text, after, added, before) : null)
  );
}

/** @param {Range} list */
const insideOf = ({ from, to }) => ({ from: from + 1, to: to - 1 });

/** @param {string} text @param {Item} item @param {boolean} isAfter @param {string} added */
function inList(text, { place }, isAfter, added) {
  if (place.type !== "list") return null;
  return insertElement(text, listOf(place), place.index + (isAfter ? 1 : 0), added);
}

/** @param {string} text @param {Item} item @param {string} added @returns {Change[] | null} */
function placeAfter(text, { place }, added) {
  if (place.type === "add") {
    if (!place.line) return null;
    const receiver = text.slice(place.statement.from, text.indexOf(".add", place.statement.from));
    return [lineAfter(text, place.statement, `${receiver}.add(${added})`)];
  }
  if (place.type !== "call") return null;
  const { statement, target, line, call } = place;
  if (target && line) return [lineAfter(text, statement, `${target} = ${added}(${target})`)];
  return [insertion(call.from, `${added}(`), insertion(call.to, ")")];
}

/** @param {string} text @param {Range} statement @param {string} line */
function lineAfter(text, statement, line) {
  const end = lineEnd(text, statement.to);
  const indent = indentAt(text, statement.from);
  const isEnded = text.length === 0 || text[end - 1] === "\n";
  return insertion(end, isEnded ? `${indent}${line}\n` : `\n${indent}${line}`);
}

/** @param {string} text @param {Item} item @param {string} added @param {Item | undefined} before @returns {Change[] | null} */
function placeBefore(text, { place, inputs }, added, before) {
  if (place.type === "add" && place.line) {
    const receiver = text.slice(place.statement.from, text.indexOf(".add", place.statement.from));
    const at = lineStart(text, place.statement.from);
    return [insertion(at, `${indentAt(text, place.statement.from)}${receiver}.add(${added})\n`)];
  }
  if (place.type !== "call" || !place.argument || (before && inputs[0] !== before.id)) return null;
  return [insertion(place.argument.from, `${added}(`), insertion(place.argument.to, ")")];
}

/** @param {Item} item */
export function canRemove({ place }) {
  if (place.type === "list") return true;
  if (place.type === "add") return place.line;
  return place.type === "call" && place.argument !== null;
}

/** @param {Program} program @param {Item} item one that can be removed @returns {Change[]} */
export function removeLayer({ text }, { place }) {
  if (place.type === "list") return removeElement(text, listOf(place), place.index);
  if (place.type === "add")
    return [removal(lineStart(text, place.statement.from), lineEnd(text, place.statement.to))];
  if (place.type !== "call" || !place.argument) return [];
  const { statement, argument, target, line, call } = place;
  const input = text.slice(argument.from, argument.to);
  if (line && target === input)
    return [removal(lineStart(text, statement.from), lineEnd(text, statement.to))];
  return [{ ...call, insert: input }];
}

/**
 * Whether an item and the next can change places.
 * @param {Network} network
 * @param {number} index
 */
export function canSwap(network, index) {
  const [a, b] = [network.items[index], network.items[index + 1]];
  if (!a || !b || a.place.type !== b.place.type || a.type === "input" || b.type === "input")
    return false;
  if (a.place.type === "list" || a.place.type === "add") return true;
  return (
    a.place.type === "call" &&
    b.inputs.length === 1 &&
    b.inputs[0] === a.id &&
    a.inputs.length === 1
  );
}

/** @param {Program} program @param {Network} network @param {number} index @returns {Change[]} */
export function swapLayers({ text }, network, index) {
  const [a, b] = [network.items[index], network.items[index + 1]];
  if (a.place.type === "list") return swapElements(text, listOf(a.place), a.place.index);
  const [from, to] = [a.call ?? a, b.call ?? b];
  return swapTexts(text, from, to);
}

/** @param {Program} program @param {Network} network @param {number} index @returns {Change[] | null} */
export function duplicateLayer({ text }, network, index) {
  const { type, call, inputs } = network.items[index];
  if (type !== "layer" || inputs.length > 1) return null; // a copy gets one tensor
  return call && placeText(text, network, index + 1, withoutName(text, call));
}

/** The text of a layer without its name, which only one layer can have. @param {string} text @param {Call} call */
function withoutName(text, call) {
  const source = text.slice(call.from, call.to);
  const name = argumentOf(call, "name");
  const at = call.elements.findIndex(({ from }) => from === name?.from);
  if (at < 0) return source;
  const moved = (/** @type {Range} */ { from, to }) => ({
    from: from - call.from,
    to: to - call.from,
  });
  const list = { inside: moved(call.inside), elements: call.elements.map(moved) };
  return applyChanges(source, removeElement(source, list, at));
}

/**
 * Move an item by exchanging it with its neighbours.
 * @param {Program} program
 * @param {number} number of the network
 * @param {number} from
 * @param {number} to its new index
 * @returns {Change[]} none if something in between cannot change places
 */
export function moveLayer(program, number, from, to) {
  const step = Math.sign(to - from);
  let current = program;
  for (let at = from; at !== to; at += step) {
    const network = current.networks[number];
    const lower = Math.min(at, at + step);
    if (!network || !canSwap(network, lower)) return [];
    current = readProgram(applyChanges(current.text, swapLayers(current, network, lower)));
  }
  return difference(program.text, current.text);
}
