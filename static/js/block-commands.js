/** What the buttons and keys of a card do to its layer. */

import { change, program } from "./blocks-model.js";
import * as structure from "./blocks/structure.js";

/** @typedef {{network: number, index: number}} Position of a card */

/** The networks in the program, and one of them. @param {number} number */
const networkOf = (number) => program.value.networks[number];

/** @param {Position} position */
function nameOf({ network, index }) {
  const item = networkOf(network)?.items[index];
  return item?.call?.kind ?? "Your code";
}

/** @param {Position} position of the new card @param {string} kind @param {string} given its arguments */
export function add({ network, index }, kind, given) {
  const changes = structure.addLayer(program.value, networkOf(network), index, `nn.${kind}`, given);
  const count = networkOf(network).items.length + 1;
  if (changes) change(changes, `${kind} added, ${index + 1} of ${count}.`, { network, index });
}

/** @param {Position} position */
export function remove({ network, index }) {
  const { items } = networkOf(network);
  const said = `${nameOf({ network, index })} removed. ${items.length - 1} left.`;
  const next = Math.min(index, items.length - 2);
  change(structure.removeLayer(program.value, items[index]), said, { network, index: next });
}

/** @param {Position} position */
export function duplicate({ network, index }) {
  const changes = structure.duplicateLayer(program.value, networkOf(network), index);
  if (changes) change(changes, `${nameOf({ network, index })} duplicated.`, { network, index: index + 1 });
}

/** @param {Position} position @param {number} to its new index */
export function move({ network, index }, to) {
  const { items } = networkOf(network);
  const changes = structure.moveLayer(program.value, network, index, to);
  change(changes, `${nameOf({ network, index })} moved, ${to + 1} of ${items.length}.`, { network, index: to });
}

/** Whether a card can go one up or down. @param {Position} position @param {1 | -1} direction */
export const canMove = ({ network, index }, direction) =>
  structure.canSwap(networkOf(network), direction > 0 ? index : index - 1);
