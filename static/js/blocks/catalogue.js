/** The layers that Blocks offers: in groups, each with the fields of its card. Their names and descriptions are messages. */

/** @import { Messages } from "../messages/en.js" */

/** @typedef {keyof Messages["blocks"]["fields"]} Label the name of a field */
/**
 * @typedef {object} Field
 * @property {string} parameter
 * @property {Label} label
 * @property {"count" | "number" | "size" | "choice" | "flag" | "shape" | "regularizer"} type
 *   "size": a whole number that may also be given for each axis; "shape": a tuple
 * @property {boolean} [more] whether it is among the fields that are folded
 * @property {number} [least]
 * @property {number} [most]
 * @property {number} [step]
 * @property {readonly string[]} [options] texts of values, for a choice
 */
/** @typedef {{kind: keyof Messages["layers"]["about"], given: string, fields: readonly Field[]}} Entry `given`: arguments of a new layer */

const ACTIVATIONS = [
  "None",
  '"relu"',
  '"tanh"',
  '"sigmoid"',
  '"gelu"',
  '"silu"',
  '"elu"',
  '"selu"',
  '"leaky_relu"',
  '"softplus"',
  '"softmax"',
];
const PADDINGS = ['"valid"', '"same"'];

/** @param {string} parameter @param {Label} label @param {Partial<Field>} [rest] @returns {Field} */
const count = (parameter, label, rest) => ({ parameter, label, type: "count", least: 1, ...rest });

/** @param {string} parameter @param {Label} label @param {Partial<Field>} [rest] @returns {Field} */
const size = (parameter, label, rest) => ({ parameter, label, type: "size", least: 1, ...rest });

/** @param {string} parameter @param {Label} label @param {readonly string[]} options @param {Partial<Field>} [rest] @returns {Field} */
const choice = (parameter, label, options, rest) => ({
  parameter,
  label,
  type: "choice",
  options,
  ...rest,
});

/** @param {string} parameter @param {Label} label @param {Partial<Field>} [rest] @returns {Field} */
const number = (parameter, label, rest) => ({
  parameter,
  label,
  type: "number",
  least: 0,
  ...rest,
});

/** @param {string} parameter @param {Label} label @param {Partial<Field>} [rest] @returns {Field} */
const flag = (parameter, label, rest) => ({ parameter, label, type: "flag", more: true, ...rest });

const activation = choice("activation", "activation", ACTIVATIONS);
const padding = choice("padding", "padding", PADDINGS);
const bias = flag("use_bias", "bias");
/** @type {Field} */
const regularizer = {
  parameter: "kernel_regularizer",
  label: "regularization",
  type: "regularizer",
  more: true,
};
const filters = count("filters", "filters");
const kernel = size("kernel_size", "window");
const strides = size("strides", "stride", { more: true });
const rate = number("rate", "rate", { most: 0.95, step: 0.05 });
const pool = size("pool_size", "window");
const sequences = flag("return_sequences", "everyStep", { more: false });
const recurrent = [
  count("units", "units"),
  sequences,
  choice("activation", "activation", ACTIVATIONS, { more: true }),
  number("dropout", "dropout", { more: true, most: 0.95, step: 0.05 }),
];

/** @type {{name: keyof Messages["layers"]["groups"], entries: Entry[]}[]} */
export const GROUPS = [
  {
    name: "basic",
    entries: [
      {
        kind: "Dense",
        given: '32, activation="relu"',
        fields: [count("units", "units"), activation, bias, regularizer],
      },
      {
        kind: "Activation",
        given: '"relu"',
        fields: [choice("activation", "function", ACTIVATIONS.slice(1))],
      },
      { kind: "Dropout", given: "0.2", fields: [rate] },
      { kind: "Flatten", given: "", fields: [] },
      {
        kind: "Reshape",
        given: "(28, 28, 1)",
        fields: [{ parameter: "target_shape", label: "shape", type: "shape" }],
      },
      {
        kind: "Rescaling",
        given: "1 / 255",
        fields: [
          number("scale", "scale", { step: 0.1 }),
          number("offset", "offset", { more: true, least: -1000, step: 0.1 }),
        ],
      },
    ],
  },
  {
    name: "images",
    entries: [
      {
        kind: "Conv2D",
        given: '16, 3, activation="relu"',
        fields: [
          filters,
          kernel,
          padding,
          activation,
          strides,
          size("dilation_rate", "dilation", { more: true }),
          bias,
          regularizer,
        ],
      },
      {
        kind: "MaxPool2D",
        given: "2",
        fields: [pool, choice("padding", "padding", PADDINGS, { more: true })],
      },
      {
        kind: "AveragePool2D",
        given: "2",
        fields: [pool, choice("padding", "padding", PADDINGS, { more: true })],
      },
      { kind: "GlobalAveragePooling2D", given: "", fields: [] },
      { kind: "GlobalMaxPooling2D", given: "", fields: [] },
      {
        kind: "DepthwiseConv2D",
        given: "3",
        fields: [
          kernel,
          padding,
          activation,
          count("depth_multiplier", "filtersEach", { more: true }),
          strides,
          bias,
        ],
      },
      {
        kind: "SeparableConv2D",
        given: '16, 3, activation="relu"',
        fields: [filters, kernel, padding, activation, strides, bias],
      },
      {
        kind: "Conv2DTranspose",
        given: '16, 3, strides=2, padding="same"',
        fields: [
          filters,
          kernel,
          size("strides", "stride"),
          padding,
          choice("activation", "activation", ACTIVATIONS, { more: true }),
          bias,
        ],
      },
      { kind: "UpSampling2D", given: "2", fields: [size("size", "factor")] },
      { kind: "ZeroPadding2D", given: "1", fields: [size("padding", "border", { least: 0 })] },
    ],
  },
  {
    name: "sequences",
    entries: [
      {
        kind: "Embedding",
        given: "1000, 16",
        fields: [count("input_dim", "words"), count("output_dim", "features")],
      },
      { kind: "LSTM", given: "32", fields: recurrent },
      { kind: "GRU", given: "32", fields: recurrent },
      { kind: "SimpleRNN", given: "32", fields: recurrent },
      {
        kind: "Conv1D",
        given: '32, 3, activation="relu"',
        fields: [
          filters,
          kernel,
          choice("padding", "padding", [...PADDINGS, '"causal"']),
          activation,
          strides,
          size("dilation_rate", "dilation", { more: true }),
          bias,
        ],
      },
      { kind: "MaxPool1D", given: "2", fields: [pool] },
      { kind: "GlobalAveragePooling1D", given: "", fields: [] },
      { kind: "GlobalMaxPooling1D", given: "", fields: [] },
      {
        kind: "MultiHeadAttention",
        given: "2, key_dim=16",
        fields: [
          count("num_heads", "heads"),
          count("key_dim", "featuresEach"),
          flag("causal", "earlierOnly"),
        ],
      },
    ],
  },
  {
    name: "normalization",
    entries: [
      {
        kind: "BatchNormalization",
        given: "",
        fields: [number("momentum", "momentum", { most: 0.999, step: 0.01 })],
      },
      { kind: "LayerNormalization", given: "", fields: [] },
      { kind: "GroupNormalization", given: "4", fields: [count("groups", "groups")] },
      {
        kind: "GaussianNoise",
        given: "0.1",
        fields: [number("stddev", "deviation", { most: 1, step: 0.05 })],
      },
    ],
  },
];

/** Layers that occur in programs but are not in the menu. @type {Entry[]} */
const OTHERS = [
  { kind: "Input", given: "", fields: [{ parameter: "shape", label: "shape", type: "shape" }] },
  { kind: "Bidirectional", given: "", fields: [] },
  { kind: "Concatenate", given: "", fields: [] },
  { kind: "Add", given: "", fields: [] },
  { kind: "Multiply", given: "", fields: [] },
  { kind: "ReLU", given: "", fields: [] },
  { kind: "LeakyReLU", given: "", fields: [number("negative_slope", "slope", { step: 0.05 })] },
  { kind: "Softmax", given: "", fields: [] },
  { kind: "Permute", given: "", fields: [{ parameter: "dims", label: "order", type: "shape" }] },
  { kind: "RepeatVector", given: "", fields: [count("n", "times")] },
  { kind: "PositionEmbedding", given: "", fields: [count("sequence_length", "positions")] },
  {
    kind: "TransformerEncoder",
    given: "",
    fields: [count("intermediate_dim", "units"), count("num_heads", "heads")],
  },
];

/** Two names of one layer. @type {Record<string, string>} */
const SAME = {
  MaxPooling2D: "MaxPool2D",
  AveragePooling2D: "AveragePool2D",
  MaxPooling1D: "MaxPool1D",
};

/** @type {Map<string, Entry>} */
const BY_KIND = new Map(
  [...GROUPS.flatMap(({ entries }) => entries), ...OTHERS].map((entry) => [entry.kind, entry]),
);

/** @param {string} kind @returns {Entry | null} null for a layer that Blocks has nothing to say of */
export const entryOf = (kind) => BY_KIND.get(SAME[kind] ?? kind) ?? null;

/** Optimizers of the menu. */
export const OPTIMIZERS = ["Adam", "AdamW", "SGD", "Momentum", "RMSprop", "Adagrad", "Lion"];

/** Losses of the menu, with their arguments. */
export const LOSSES = /** @type {const} */ ([
  { kind: "SparseCategoricalCrossentropy", given: "from_logits=True" },
  { kind: "CategoricalCrossentropy", given: "from_logits=True" },
  { kind: "BinaryCrossentropy", given: "from_logits=True" },
  { kind: "MeanSquaredError", given: "" },
  { kind: "MeanAbsoluteError", given: "" },
  { kind: "Huber", given: "" },
]);

/** @typedef {keyof import("../messages/en.js").Messages["metrics"]["names"]} Metric */

/** Metrics of the menu, by what the loss is for; `least`: outputs. @type {Record<"classes" | "binary" | "numbers", {name: Metric, least?: number}[]>} */
export const METRICS = {
  classes: [{ name: "accuracy" }, { name: "top_k_accuracy", least: 6 }],
  binary: [{ name: "accuracy" }],
  numbers: [
    { name: "mean_absolute_error" },
    { name: "mean_squared_error" },
    { name: "root_mean_squared_error" },
    { name: "r2_score" },
  ],
};
