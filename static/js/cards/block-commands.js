/** What the buttons and keys of a card do to its layer. */

import * as structure from "../blocks/structure.js";
import { t } from "../words/locale.js";
import { isHeld } from "../sharing/locks.js";
import { change, program } from "./blocks-model.js";

/** @typedef {{network: number, index: number}} Position of a card */

/** The networks in the program, and one of them. @param {number} number */
const networkOf = (number) => program.value.networks[number];

/** @param {Position} position */
function nameOf({ network, index }) {
  const item = networkOf(network)?.items[index];
  return item?.call?.kind ?? t().blocks.yourCode;
}

/** @param {Position} position of the new card @param {string} kind @param {string} given its arguments */
export function add({ network, index }, kind, given) {
  const changes = structure.addLayer(program.value, networkOf(network), index, `nn.${kind}`, given);
  const count = networkOf(network).items.length + 1;
  if (changes) change(changes, t().blocks.said.added(kind, index + 1, count), { network, index });
}

/** @param {Position} position */
export function remove({ network, index }) {
  const { items } = networkOf(network);
  const said = t().blocks.said.removed(nameOf({ network, index }), items.length - 1);
  const next = Math.min(index, items.length - 2);
  change(structure.removeLayer(program.value, items[index]), said, { network, index: next });
}

/** @param {Position} position */
export function duplicate({ network, index }) {
  const changes = structure.duplicateLayer(program.value, networkOf(network), index);
  if (changes)
    change(changes, t().blocks.said.duplicated(nameOf({ network, index })), {
      network,
      index: index + 1,
    });
}

/** @param {Position} position @param {number} to its new index */
export function move({ network, index }, to) {
  const { items } = networkOf(network);
  const changes = structure.moveLayer(program.value, network, index, to);
  change(changes, t().blocks.said.moved(nameOf({ network, index }), to + 1, items.length), {
    network,
    index: to,
  });
}

/** Whether a card can move up or down by one. @param {Position} position @param {1 | -1} direction */
export function canMove({ network, index }, direction) {
  const first = direction > 0 ? index : index - 1;
  return (
    structure.canSwap(networkOf(network), first) &&
    !networkOf(network)
      .items.slice(first, first + 2)
      .some(isHeld)
  );
}
