/** Shapes of dense layers, embeddings, normalization, and of layers that only rearrange. */

import { t } from "../../words/locale.js";
import { Impossible, divisorUpTo, known, product, shapeText, wrongRank } from "./layer.js";
import { bias } from "./windows.js";

/** @import { Family, LayerArguments, Rule } from "./layer.js" */
/** @import { Shape } from "../types.js" */

/** The same shape, without parameters. @type {Rule} */
const same = (input) => ({ shape: input, parameters: 0 });

/** @type {Rule} */
function dense(input, layer) {
  const units = layer.whole("units");
  const features = layer.features(input);
  return {
    shape: [...input.slice(0, -1), units],
    parameters: features * units + bias(layer, units),
  };
}

/** @type {Rule} */
function embedding(input, layer) {
  const width = layer.whole("output_dim");
  // Often the number of words, which the program counts.
  const rows = layer.isKnown("input_dim") ? layer.whole("input_dim") : null;
  return { shape: [...input, width], parameters: rows === null ? null : rows * width };
}

/** @type {Rule} */
function flatten(input) {
  return { shape: [input.includes(null) ? null : product(input)], parameters: 0 };
}

/** @type {Rule} */
function reshape(input, layer) {
  const value = layer.value("target_shape");
  if (value.type !== "tuple" && value.type !== "list") {
    throw new Impossible(t().shapes.reshapeTuple);
  }
  const sizes = value.value.map((each) => layer.checked("target_shape", each, -1));
  const free = sizes.filter((size) => size === -1).length;
  const named = product(sizes.filter((size) => size !== -1));
  if (input.includes(null))
    return { shape: sizes.map((size) => (size === -1 ? null : size)), parameters: 0 };
  const all = product(input);
  if (free > 1 || (free === 0 ? named !== all : all % named !== 0)) {
    throw new Impossible(
      t().shapes.reshape(
        all,
        shapeText(input),
        sizes.map((size) => (size === -1 ? "?" : size)).join(" × "),
      ),
    );
  }
  return { shape: sizes.map((size) => (size === -1 ? all / named : size)), parameters: 0 };
}

/** @type {Rule} */
function permute(input, layer) {
  const dims = layer.sizes("dims", input.length);
  if ([...dims].sort((a, b) => a - b).some((dim, i) => dim !== i + 1)) {
    throw new Impossible(t().shapes.permute(input.length));
  }
  return { shape: dims.map((dim) => input[dim - 1]), parameters: 0 };
}

/** @type {Rule} */
function repeat(input, layer) {
  if (input.length !== 1) throw wrongRank(layer.kind, 1, input);
  return { shape: [layer.whole("n"), input[0]], parameters: 0 };
}

/** The size along the axis of a normalization. @param {Shape} input @param {LayerArguments} layer */
function alongAxis(input, layer) {
  const value = layer.value("axis");
  if (value.type !== "int") return { size: null };
  const axis = value.value < 0 ? value.value + input.length + 1 : value.value;
  if (axis < 1 || axis > input.length) {
    throw new Impossible(t().shapes.noAxis(layer.kind, value.value, shapeText(input)));
  }
  return { size: known(input[axis - 1]) };
}

/** @param {number} fixed statistics beside the parameters that are trained @returns {Rule} */
const normalization = (fixed) => (input, layer) => {
  const { size } = alongAxis(input, layer);
  const count = fixed + (layer.flag("center") ? 1 : 0) + (layer.flag("scale") ? 1 : 0);
  return { shape: input, parameters: size === null ? null : count * size };
};

/** @type {Rule} */
function groups(input, layer) {
  const { size } = alongAxis(input, layer);
  const value = layer.value("groups");
  const count = value.type === "int" && value.value === -1 ? size : layer.whole("groups");
  if (size !== null && count !== null && size % count !== 0) {
    throw new Impossible(t().shapes.channelGroups(layer.kind, count, size), {
      set: ["groups", String(divisorUpTo(count, size))],
    });
  }
  return normalization(0)(input, layer, []);
}

/** @type {Rule} */
function rootMeanSquare(input, layer) {
  return { shape: input, parameters: alongAxis(input, layer).size };
}

/** @type {Rule} */
function parametricRelu(input, layer) {
  const isPlain = layer.value("shared_axes").type === "none";
  return { shape: input, parameters: isPlain ? product(input) : null };
}

/** @type {Rule} */
function positions(input, layer) {
  layer.sequence(input);
  const length = layer.whole("sequence_length");
  if (input[0] !== null && input[0] > length) {
    throw new Impossible(t().shapes.positions(length, input[0]), {
      set: ["sequence_length", String(input[0])],
    });
  }
  return { shape: input, parameters: length * layer.features(input) };
}

/** Of several tensors of one shape. @type {Rule} */
function merged(input, layer, inputs) {
  if (inputs.length < 2) throw new Impossible(t().shapes.several(layer.kind));
  for (const other of inputs) {
    const fits =
      other.length === input.length &&
      other.every((size, i) => size === null || input[i] === null || size === input[i]);
    if (!fits)
      throw new Impossible(t().shapes.oneShape(layer.kind, shapeText(input), shapeText(other)));
  }
  return same(input, layer, inputs);
}

/** @type {Rule} */
function concatenate(input, layer, inputs) {
  if (inputs.length < 2) throw new Impossible(t().shapes.several("Concatenate"));
  const value = layer.value("axis");
  if (value.type !== "int") return { shape: null, parameters: 0 };
  const axis = (value.value < 0 ? value.value + input.length + 1 : value.value) - 1;
  const fits = inputs.every(
    (other) =>
      other.length === input.length && other.every((size, i) => i === axis || size === input[i]),
  );
  if (!fits || axis < 0 || axis >= input.length)
    throw new Impossible(t().shapes.concatenate(inputs.map(shapeText)));
  const sum = inputs.reduce((/** @type {number} */ all, other) => all + known(other[axis]), 0);
  return { shape: input.map((size, i) => (i === axis ? sum : size)), parameters: 0 };
}

/** @type {Record<string, Family>} */
export const BASIC = {
  same: () => same,
  dense: () => dense,
  embedding: () => embedding,
  flatten: () => flatten,
  reshape: () => reshape,
  permute: () => permute,
  repeat: () => repeat,
  normalization,
  groups: () => groups,
  rootMeanSquare: () => rootMeanSquare,
  parametricRelu: () => parametricRelu,
  positions: () => positions,
  merged: () => merged,
  concatenate: () => concatenate,
};
