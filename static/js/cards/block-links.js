/** Links the layer shown in Inspect with its block. */

import { computed } from "../../vendor/preact.js";
import { linesOf } from "../blocks/last-run.js";
import { layerOf } from "../training/inspected-layer.js";
import { layerLine, lookAtOneOf, shownLayers } from "../training/layer-links.js";
import { program } from "./blocks-model.js";

/** @import { LayerLine } from "../../engine/messages.js" */
/** @import { Program } from "../blocks/types.js" */
/** @typedef {import("./block-commands.js").Position} Position */

/**
 * The block that created a layer. Of several blocks on its line it is the one at the layer's place
 * among the layers that the line created; null if their numbers differ.
 * @param {Program} code
 * @param {LayerLine[]} layers
 * @param {string} name
 * @returns {Position | null}
 */
export function blockOf(code, layers, name) {
  const own = layers.filter((layer) => layer.name === layerOf(layer.name));
  const line = own.find((layer) => layer.name === layerOf(name))?.line;
  if (!line) return null;
  const there = code.networks.flatMap(({ items }, network) =>
    items.flatMap((item, index) => {
      const [first, last] = linesOf(code.text, item);
      return item.type !== "input" && first <= line && line <= last
        ? [{ network, index, type: item.type }]
        : [];
    }),
  );
  const blocks = there.some(({ type }) => type === "layer")
    ? there.filter(({ type }) => type === "layer")
    : there;
  const created = own.filter((layer) => layer.line === line);
  const at = blocks.length === 1 ? 0 : created.findIndex((layer) => layer.name === layerOf(name));
  if (blocks.length > 1 && blocks.length !== created.length) return null;
  return blocks[at] ? { network: blocks[at].network, index: blocks[at].index } : null;
}

/** The block of the layer shown in Inspect. */
export const linkedBlock = computed(() =>
  shownLayers.value && layerLine.value !== null
    ? blockOf(program.value, shownLayers.value.lines, shownLayers.value.layer)
    : null,
);

/** Look at the layer of a block, if there is one. @param {Position} position */
export function lookAtBlock({ network, index }) {
  const lines = shownLayers.value?.lines ?? [];
  lookAtOneOf(
    lines.filter(({ name }) => {
      const block = blockOf(program.value, lines, name);
      return block?.network === network && block.index === index;
    }),
  );
}
