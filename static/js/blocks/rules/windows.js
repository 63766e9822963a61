/** Shapes of layers with sliding windows: convolutions and pooling. */

import { t } from "../../words/locale.js";
import { Impossible, divisorUpTo, known } from "./layer.js";

/** @import { Family, LayerArguments, Rule } from "./layer.js" */
/** @import { Shape } from "../types.js" */

/**
 * The size of the result along one axis.
 * @param {number | null} size
 * @param {{window: number, stride: number, dilation?: number, padding: string}} how
 * @param {LayerArguments} layer
 */
function outputSize(size, { window, stride, dilation = 1, padding }, layer) {
  if (size === null) return null;
  if (padding === "same" || padding === "causal") return Math.ceil(size / stride);
  const reach = (window - 1) * dilation + 1;
  if (reach > size)
    throw new Impossible(t().shapes.window(layer.kind, reach, size), {
      set: ["padding", '"same"'],
    });
  return Math.floor((size - reach) / stride) + 1;
}

/** @param {Shape} spatial @param {LayerArguments} layer @param {string} window the parameter @param {boolean} isPool */
function windows(spatial, layer, window, isPool) {
  const axes = spatial.length;
  const sizes = layer.sizes(window, axes);
  const isDefault = isPool && layer.value("strides").type === "none";
  const strides = isDefault ? sizes : layer.sizes("strides", axes);
  const dilations = isPool ? sizes.map(() => 1) : layer.sizes("dilation_rate", axes);
  const padding = layer.word("padding");
  const shape = spatial.map((size, i) =>
    outputSize(
      size,
      { window: sizes[i], stride: strides[i], dilation: dilations[i], padding },
      layer,
    ),
  );
  return { shape, area: sizes.reduce((a, b) => a * b, 1) };
}

/** @param {number} axes @returns {Rule} */
const convolution = (axes) => (input, layer) => {
  expectRank(input, layer, axes);
  const channels = layer.features(input);
  const [filters, groups] = [layer.whole("filters"), layer.whole("groups")];
  /** @type {import("../types.js").LayerMend} */
  const mend = { set: ["groups", String(divisorUpTo(groups, channels, filters))] };
  if (channels % groups !== 0)
    throw new Impossible(t().shapes.channelGroups(layer.kind, groups, channels), mend);
  if (filters % groups !== 0)
    throw new Impossible(t().shapes.filterGroups(layer.kind, groups, filters), mend);
  const { shape, area } = windows(input.slice(0, -1), layer, "kernel_size", false);
  const weights = (area * channels * filters) / groups;
  return { shape: [...shape, filters], parameters: weights + bias(layer, filters) };
};

/** @param {LayerArguments} layer @param {number} count */
export const bias = (layer, count) => (layer.flag("use_bias") ? count : 0);

/** @param {Shape} input @param {LayerArguments} layer @param {number} axes */
function expectRank(input, layer, axes) {
  if (axes === 2) layer.image(input);
  else layer.sequence(input);
}

/** @param {number} axes @returns {Rule} */
const pooling = (axes) => (input, layer) => {
  expectRank(input, layer, axes);
  const { shape } = windows(input.slice(0, -1), layer, "pool_size", true);
  return { shape: [...shape, input[axes]], parameters: 0 };
};

/** @param {number} axes @returns {Rule} */
const globalPooling = (axes) => (input, layer) => {
  expectRank(input, layer, axes);
  const ones = layer.flag("keepdims") ? Array(axes).fill(1) : [];
  return { shape: [...ones, input[axes]], parameters: 0 };
};

/** @type {Rule} */
function transposed(input, layer) {
  layer.image(input);
  const filters = layer.whole("filters");
  const sizes = layer.sizes("kernel_size", 2);
  const strides = layer.sizes("strides", 2);
  const dilations = layer.sizes("dilation_rate", 2);
  const isSame = layer.word("padding") === "same";
  const shape = sizes.map((size, i) => {
    const before = input[i];
    if (before === null) return null;
    const reach = (size - 1) * dilations[i] + 1;
    return before * strides[i] + (isSame ? 0 : Math.max(reach - strides[i], 0));
  });
  const weights = sizes[0] * sizes[1] * filters * layer.features(input);
  return { shape: [...shape, filters], parameters: weights + bias(layer, filters) };
}

/** @type {Rule} */
function depthwise(input, layer) {
  layer.image(input);
  const channels = layer.features(input) * layer.whole("depth_multiplier");
  const { shape, area } = windows(input.slice(0, -1), layer, "kernel_size", false);
  return { shape: [...shape, channels], parameters: area * channels + bias(layer, channels) };
}

/** @type {Rule} */
function separable(input, layer) {
  layer.image(input);
  const channels = layer.features(input) * layer.whole("depth_multiplier");
  const filters = layer.whole("filters");
  const { shape, area } = windows(input.slice(0, -1), layer, "kernel_size", false);
  const parameters = area * channels + channels * filters + bias(layer, filters);
  return { shape: [...shape, filters], parameters };
}

/** @param {number} axes @returns {Rule} */
const upsampling = (axes) => (input, layer) => {
  expectRank(input, layer, axes);
  const factors = layer.sizes("size", axes);
  const shape = factors.map((factor, i) => scaled(input[i], factor));
  return { shape: [...shape, input[axes]], parameters: 0 };
};

/** @param {number | null} size @param {number} factor */
const scaled = (size, factor) => (size === null ? null : size * factor);

/** @param {number} axes @param {1 | -1} sign @param {string} parameter @returns {Rule} */
const borders = (axes, sign, parameter) => (input, layer) => {
  expectRank(input, layer, axes);
  const shape = layer.sides(parameter, axes).map(([before, after], i) => {
    const size = input[i];
    if (size === null) return null;
    const result = size + sign * (before + after);
    if (result < 1)
      throw new Impossible(t().shapes.nothingLeft(layer.kind, before + after, known(size)));
    return result;
  });
  return { shape: [...shape, input[axes]], parameters: 0 };
};

/** @type {Record<string, Family>} */
export const WINDOWS = {
  convolution,
  transposed: () => transposed,
  depthwise: () => depthwise,
  separable: () => separable,
  pooling,
  globalPooling,
  upsampling,
  borders,
};
