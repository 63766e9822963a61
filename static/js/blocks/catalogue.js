/** The layers that Blocks offers: in groups, each with a sentence and the fields of its card. */

/**
 * @typedef {object} Field
 * @property {string} parameter
 * @property {string} label
 * @property {"count" | "number" | "size" | "choice" | "flag" | "shape" | "regularizer"} type
 *   "size": a whole number that may also be given for each axis; "shape": a tuple
 * @property {boolean} [more] whether it is among the fields that are folded
 * @property {number} [least]
 * @property {number} [most]
 * @property {number} [step]
 * @property {readonly string[]} [options] texts of values, for a choice
 */
/** @typedef {{kind: string, given: string, about: string, fields: readonly Field[]}} Entry `given`: arguments of a new layer */

const ACTIVATIONS = [
  "None", '"relu"', '"tanh"', '"sigmoid"', '"gelu"', '"silu"', '"elu"', '"selu"', '"leaky_relu"', '"softplus"',
  '"softmax"',
];
const PADDINGS = ['"valid"', '"same"'];

/** @param {string} parameter @param {string} label @param {Partial<Field>} [rest] @returns {Field} */
const count = (parameter, label, rest) => ({ parameter, label, type: "count", least: 1, ...rest });

/** @param {string} parameter @param {string} label @param {Partial<Field>} [rest] @returns {Field} */
const size = (parameter, label, rest) => ({ parameter, label, type: "size", least: 1, ...rest });

/** @param {string} parameter @param {string} label @param {readonly string[]} options @param {Partial<Field>} [rest] @returns {Field} */
const choice = (parameter, label, options, rest) => ({ parameter, label, type: "choice", options, ...rest });

/** @param {string} parameter @param {string} label @param {Partial<Field>} [rest] @returns {Field} */
const number = (parameter, label, rest) => ({ parameter, label, type: "number", least: 0, ...rest });

/** @param {string} parameter @param {string} label @param {Partial<Field>} [rest] @returns {Field} */
const flag = (parameter, label, rest) => ({ parameter, label, type: "flag", more: true, ...rest });

const activation = choice("activation", "Activation", ACTIVATIONS);
const padding = choice("padding", "Padding", PADDINGS);
const bias = flag("use_bias", "Bias");
/** @type {Field} */
const regularizer = { parameter: "kernel_regularizer", label: "Regularization", type: "regularizer", more: true };
const filters = count("filters", "Filters");
const kernel = size("kernel_size", "Window");
const strides = size("strides", "Stride", { more: true });
const rate = number("rate", "Rate", { most: 0.95, step: 0.05 });
const pool = size("pool_size", "Window");
const sequences = flag("return_sequences", "Every step", { more: false });
const recurrent = [
  count("units", "Units"), sequences, choice("activation", "Activation", ACTIVATIONS, { more: true }),
  number("dropout", "Dropout", { more: true, most: 0.95, step: 0.05 }),
];

/** @type {{title: string, entries: Entry[]}[]} */
export const GROUPS = [
  {
    title: "Basic",
    entries: [
      { kind: "Dense", given: '32, activation="relu"', fields: [count("units", "Units"), activation, bias, regularizer],
        about: "Each unit adds up all its inputs, each times a weight that training finds." },
      { kind: "Activation", given: '"relu"', fields: [choice("activation", "Function", ACTIVATIONS.slice(1))],
        about: "Bends each number by a function; without such bends, many layers could do no more than one." },
      { kind: "Dropout", given: "0.2", fields: [rate],
        about: "Switches off some inputs at random while training, so that the network does not rely on single ones." },
      { kind: "Flatten", given: "", fields: [],
        about: "Puts all numbers of a sample into one row, so that a dense layer can take them." },
      { kind: "Reshape", given: "(28, 28, 1)", fields: [{ parameter: "target_shape", label: "Shape", type: "shape" }],
        about: "Arranges the same numbers in another shape, such as an image with one channel." },
      { kind: "Rescaling", given: "1 / 255", fields: [number("scale", "Scale", { step: 0.1 }), number("offset", "Offset", { more: true, least: -1000, step: 0.1 })],
        about: "Multiplies all inputs by one number: networks learn best from numbers near 0 and 1." },
    ],
  },
  {
    title: "Images",
    entries: [
      { kind: "Conv2D", given: '16, 3, activation="relu"', fields: [filters, kernel, padding, activation, strides, size("dilation_rate", "Dilation", { more: true }), bias, regularizer],
        about: "Slides small filters over the image; each looks for one pattern, wherever it is." },
      { kind: "MaxPool2D", given: "2", fields: [pool, choice("padding", "Padding", PADDINGS, { more: true })],
        about: "Keeps only the largest number of each small square, so that the image shrinks and small shifts matter less." },
      { kind: "AveragePool2D", given: "2", fields: [pool, choice("padding", "Padding", PADDINGS, { more: true })],
        about: "Keeps the mean of each small square, so that the image shrinks." },
      { kind: "GlobalAveragePooling2D", given: "", fields: [],
        about: "Keeps one number of each channel: its mean over the whole image." },
      { kind: "GlobalMaxPooling2D", given: "", fields: [],
        about: "Keeps one number of each channel: its largest in the whole image." },
      { kind: "DepthwiseConv2D", given: "3", fields: [kernel, padding, activation, count("depth_multiplier", "Filters each", { more: true }), strides, bias],
        about: "Filters each channel by itself, with few weights." },
      { kind: "SeparableConv2D", given: '16, 3, activation="relu"', fields: [filters, kernel, padding, activation, strides, bias],
        about: "Filters each channel by itself, then mixes the channels: a convolution with far fewer weights." },
      { kind: "Conv2DTranspose", given: '16, 3, strides=2, padding="same"', fields: [filters, kernel, size("strides", "Stride"), padding, choice("activation", "Activation", ACTIVATIONS, { more: true }), bias],
        about: "A convolution backwards: draws a larger image with small filters." },
      { kind: "UpSampling2D", given: "2", fields: [size("size", "Factor")],
        about: "Repeats each pixel, so that the image grows." },
      { kind: "ZeroPadding2D", given: "1", fields: [size("padding", "Border", { least: 0 })],
        about: "Adds a border of zeros, so that the next filters reach the edge." },
    ],
  },
  {
    title: "Sequences and text",
    entries: [
      { kind: "Embedding", given: "1000, 16", fields: [count("input_dim", "Words"), count("output_dim", "Features")],
        about: "Looks up a row of numbers for each word or letter; training arranges similar ones near each other." },
      { kind: "LSTM", given: "32", fields: recurrent,
        about: "Reads a sequence step by step, and learns what to remember for long and what to forget." },
      { kind: "GRU", given: "32", fields: recurrent,
        about: "Reads a sequence step by step with a memory; simpler than LSTM, and often as good." },
      { kind: "SimpleRNN", given: "32", fields: recurrent,
        about: "Reads a sequence step by step; what it remembers fades soon." },
      { kind: "Conv1D", given: '32, 3, activation="relu"', fields: [filters, kernel, choice("padding", "Padding", [...PADDINGS, '"causal"']), activation, strides, size("dilation_rate", "Dilation", { more: true }), bias],
        about: "Slides small filters along a sequence; each looks for one pattern, wherever it is." },
      { kind: "MaxPool1D", given: "2", fields: [pool],
        about: "Keeps only the largest number of each few steps, so that the sequence becomes shorter." },
      { kind: "GlobalAveragePooling1D", given: "", fields: [],
        about: "Keeps the mean of each feature over all steps." },
      { kind: "GlobalMaxPooling1D", given: "", fields: [],
        about: "Keeps the largest number of each feature over all steps." },
      { kind: "MultiHeadAttention", given: "2, key_dim=16", fields: [count("num_heads", "Heads"), count("key_dim", "Features each"), flag("causal", "Only earlier steps")],
        about: "Lets each step look at all others and take from those that matter to it." },
    ],
  },
  {
    title: "Normalization and noise",
    entries: [
      { kind: "BatchNormalization", given: "", fields: [number("momentum", "Momentum", { most: 0.999, step: 0.01 })],
        about: "Brings each feature to mean 0 and deviation 1 in a batch, so that deep networks train faster." },
      { kind: "LayerNormalization", given: "", fields: [],
        about: "Brings the features of each sample to mean 0 and deviation 1." },
      { kind: "GroupNormalization", given: "4", fields: [count("groups", "Groups")],
        about: "Brings groups of channels of each sample to mean 0 and deviation 1; it works with small batches, too." },
      { kind: "GaussianNoise", given: "0.1", fields: [number("stddev", "Deviation", { most: 1, step: 0.05 })],
        about: "Adds noise while training, so that the network learns to look past it." },
    ],
  },
];

/** Layers that occur in programs but are not in the menu. @type {Entry[]} */
const OTHERS = [
  { kind: "Input", given: "", fields: [{ parameter: "shape", label: "Shape", type: "shape" }],
    about: "The shape of one sample, which the network takes." },
  { kind: "Bidirectional", given: "", fields: [],
    about: "Reads a sequence forwards and backwards, and joins what both have seen." },
  { kind: "Concatenate", given: "", fields: [], about: "Puts the results of several branches side by side." },
  { kind: "Add", given: "", fields: [], about: "Adds up the results of several branches, number by number." },
  { kind: "Multiply", given: "", fields: [], about: "Multiplies the results of several branches, number by number." },
  { kind: "ReLU", given: "", fields: [], about: "Lets positive numbers pass, and makes negative ones 0." },
  { kind: "LeakyReLU", given: "", fields: [number("negative_slope", "Slope", { step: 0.05 })],
    about: "Lets positive numbers pass, and makes negative ones small." },
  { kind: "Softmax", given: "", fields: [], about: "Turns scores into probabilities that add up to 1." },
  { kind: "Permute", given: "", fields: [{ parameter: "dims", label: "Order", type: "shape" }],
    about: "Exchanges the axes of a sample, such as rows and columns." },
  { kind: "RepeatVector", given: "", fields: [count("n", "Times")], about: "Repeats each sample, as the steps of a sequence." },
  { kind: "PositionEmbedding", given: "", fields: [count("sequence_length", "Positions")],
    about: "A row of numbers for each position, by which a network can tell first from last." },
  { kind: "TransformerEncoder", given: "", fields: [count("intermediate_dim", "Units"), count("num_heads", "Heads")],
    about: "Attention, then a small dense network for each step: a block of a transformer." },
];

/** Two names of one layer. @type {Record<string, string>} */
const SAME = {
  MaxPooling2D: "MaxPool2D", AveragePooling2D: "AveragePool2D", MaxPooling1D: "MaxPool1D",
};

const BY_KIND = new Map([...GROUPS.flatMap(({ entries }) => entries), ...OTHERS].map((entry) => [entry.kind, entry]));

/** @param {string} kind @returns {Entry | null} null for a layer that Blocks has nothing to say of */
export const entryOf = (kind) => BY_KIND.get(SAME[kind] ?? kind) ?? null;

/** Optimizers of the menu. */
export const OPTIMIZERS = ["Adam", "AdamW", "SGD", "Momentum", "RMSprop", "Adagrad", "Lion"];

/** Losses of the menu, with their arguments and what they are for. */
export const LOSSES = [
  { kind: "SparseCategoricalCrossentropy", given: "from_logits=True", title: "classes (cross-entropy)" },
  { kind: "CategoricalCrossentropy", given: "from_logits=True", title: "classes, one-hot (cross-entropy)" },
  { kind: "BinaryCrossentropy", given: "from_logits=True", title: "yes or no (cross-entropy)" },
  { kind: "MeanSquaredError", given: "", title: "numbers (squared error)" },
  { kind: "MeanAbsoluteError", given: "", title: "numbers (absolute error)" },
  { kind: "Huber", given: "", title: "numbers (Huber)" },
];

/** What the parts of training are. */
export const ABOUT = {
  data: "The samples from which the network learns.",
  training: "How the network learns: the optimizer changes the weights a little after each batch, so that the loss falls.",
  code: "Blocks shows this part as it is. Change it under Code.",
};
