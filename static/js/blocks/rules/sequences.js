/** Shapes of recurrent layers, attention and transformers. */

import { t } from "../../words/locale.js";
import { argumentOf } from "../calls.js";
import { recordOf } from "../catalogue.js";
import { Impossible, LayerArguments, Unknown, divisorUpTo, known } from "./layer.js";
import { bias } from "./windows.js";

/** @import { Family, Rule } from "./layer.js" */
/** @import { Shape } from "../types.js" */

/** @param {number} blocks the number of gates and states @returns {Rule} */
const recurrent = (blocks) => (input, layer) => {
  layer.sequence(input);
  if (layer.flag("stateful")) throw new Unknown();
  const units = layer.whole("units");
  const columns = blocks * units;
  const rows = layer.kind === "GRU" && layer.flag("reset_after") ? 2 : 1;
  const parameters =
    layer.features(input) * columns + units * columns + bias(layer, rows * columns);
  return { shape: layer.flag("return_sequences") ? [input[0], units] : [units], parameters };
};

/** @type {Rule} */
function bidirectional(input, layer) {
  const inner = argumentOf(layer.call, "layer")?.call;
  const [name, blocks] = (inner && recordOf(inner.kind)?.rule) ?? [];
  if (!inner || name !== "recurrent" || argumentOf(layer.call, "backward_layer"))
    throw new Unknown();
  const { shape, parameters } = recurrent(Number(blocks))(input, new LayerArguments(inner), [
    input,
  ]);
  const isJoined = layer.word("merge_mode") === "concat";
  if (shape === null || parameters === null || layer.value("merge_mode").type === "none")
    throw new Unknown();
  const units = known(shape[shape.length - 1]) * (isJoined ? 2 : 1);
  return { shape: [...shape.slice(0, -1), units], parameters: 2 * parameters };
}

/** @type {Rule} */
function attention(input, layer, inputs) {
  for (const each of inputs) layer.sequence(each);
  if (layer.value("output_shape").type !== "none") throw new Unknown();
  const width = layer.features(input);
  const heads = layer.whole("num_heads");
  const size = headSize(width, heads, layer);
  const values = layer.wholeOr("value_dim", size);
  const [query, value, key = value] = inputs.length > 1 ? inputs : [input, input];
  const project = (/** @type {Shape} */ each, /** @type {number} */ outputs) =>
    layer.features(each) * outputs + bias(layer, outputs);
  const parameters =
    project(query, heads * size) +
    project(key, heads * size) +
    project(value, heads * values) +
    heads * values * width +
    bias(layer, width);
  return { shape: [input[0], width], parameters };
}

/** @param {number} heads @param {number} width @returns {import("../types.js").LayerMend} */
const fewerHeads = (heads, width) => ({ set: ["num_heads", String(divisorUpTo(heads, width))] });

/** @param {number} width @param {number} heads @param {LayerArguments} layer */
function headSize(width, heads, layer) {
  if (layer.value("key_dim").type !== "none") return layer.whole("key_dim");
  if (width % heads !== 0) {
    throw new Impossible(t().shapes.heads(layer.kind, heads, width), fewerHeads(heads, width));
  }
  return width / heads;
}

/** @type {Rule} */
function encoder(input, layer) {
  layer.sequence(input);
  const width = layer.features(input);
  const inner = layer.whole("intermediate_dim");
  const heads = layer.whole("num_heads");
  if (width % heads !== 0) {
    throw new Impossible(t().shapes.heads(layer.kind, heads, width), fewerHeads(heads, width));
  }
  const products = 4 * (width * width + width) + (width * inner + inner) + (inner * width + width);
  return { shape: input, parameters: products + 4 * width };
}

/** @type {Record<string, Family>} */
export const SEQUENCES = {
  recurrent,
  bidirectional: () => bidirectional,
  attention: () => attention,
  encoder: () => encoder,
};
