/** The changes of a program that make it load a graph, and a program that trains on one. */

import { nameFor } from "../blocks/edits.js";
import { insertion } from "../blocks/lists.js";
import { loads } from "./model-line.js";

/**
 * @import { Change, Program } from "../blocks/types.js"
 * @import { GraphAbout } from "./user-data.js"
 */

const LOAD = "data.load_graph";
/** With fewer nodes whose class is known, all of them train. */
const FEWEST_TO_SPLIT = 20;

/** The call that loads a graph. @param {string} name without quotation marks @param {string} [load] */
export const graphCall = (name, load = `pg.${LOAD}`) => `${load}("${name}")`;

/**
 * Have a program load a graph: in place of one that it loads, otherwise in a line after the imports.
 * @param {Program} program
 * @param {string} name
 * @returns {Change[]} none if it does so already
 */
export function graphChanges(program, name) {
  const [loaded] = loads(program, LOAD);
  if (loaded) {
    const { from, to } = loaded;
    return loaded.name === name ? [] : [{ from, to, insert: `"${name}"` }];
  }
  const { name: load, changes } = nameFor(program, LOAD);
  const text = `graph = ${graphCall(name, load)}`;
  const { importsEnd } = program.names;
  if (importsEnd > 0) return [...changes, insertion(importsEnd, `\n\n${text}`)];
  return [
    ...changes,
    insertion(changes[0]?.from ?? 0, changes.length > 0 ? `\n${text}\n` : `${text}\n`),
  ];
}

/**
 * A whole program that trains two graph convolutions on a graph.
 * @param {string} name
 * @param {Pick<GraphAbout, "classes" | "known" | "plain">} about
 */
export function graphProgram(name, { classes, known, plain }) {
  const isClasses = classes.length > 0;
  const splits = known >= FEWEST_TO_SPLIT;
  const what = isClasses ? "class" : "number";
  const measured = splits ? "tests" : "trains";
  return [
    "import numpy as np",
    "import playgrad as pg",
    "from playgrad import nn",
    "",
    `graph = ${graphCall(name)}`,
    "x, edges, y = graph.x, graph.edge_index, graph.y",
    ...(plain
      ? []
      : [
          "# Bring each feature to mean 0 and deviation 1.",
          "x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)",
        ]),
    ...(isClasses
      ? []
      : [
          "# The same for the numbers to predict, of the nodes where they are known.",
          "mean, deviation = y[graph.labelled].mean(), y[graph.labelled].std() or 1",
          "y = (y - mean) / deviation",
        ]),
    "",
    ...(splits
      ? [
          `# Of the nodes whose ${what} is known, a fifth is for testing.`,
          "known = np.random.default_rng(0).permutation(np.flatnonzero(graph.labelled))",
          "tests = np.isin(np.arange(len(y)), known[: len(known) // 5])",
          "trains = graph.labelled & ~tests",
        ]
      : [`trains = graph.labelled  # the nodes whose ${what} is known`]),
    "",
    'inputs = [pg.Input(x.shape), pg.Input(edges.shape, dtype="int32")]',
    'hidden = nn.GCNConv(16, activation="relu")(*inputs)',
    `outputs = nn.GCNConv(${isClasses ? "len(graph.classes)" : "1"})(hidden, inputs[1])`,
    "model = pg.Model(inputs, outputs)",
    "model.compile(",
    "    optimizer=pg.optim.Adam(learning_rate=0.01),",
    isClasses
      ? "    loss=nn.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1),"
      : '    loss="mse",',
    ")",
    "batch = [x[None], edges[None]]  # of one graph",
    "model.fit(",
    "    batch,",
    isClasses ? "    y[None]," : "    y[None, :, None],",
    "    sample_weight=trains[None],",
    "    epochs=200,",
    "    verbose=0,",
    ")",
    "",
    ...(isClasses
      ? [
          "predicted = model.predict(batch)[0].argmax(axis=1)",
          `print(f"right: {(predicted == y)[${measured}].mean():.0%} of the nodes that ${splits ? "test" : "train"}")`,
          "for node in np.flatnonzero(~graph.labelled)[:10]:",
          '    print(f"{graph.names[node]}: {graph.classes[predicted[node]]}")',
        ]
      : [
          "predicted = model.predict(batch)[0, :, 0]",
          `error = deviation * np.abs(predicted - y)[${measured}].mean()`,
          'print(f"mean error: {error:.3g}")',
          "for node in np.flatnonzero(~graph.labelled)[:10]:",
          '    print(f"{graph.names[node]}: {deviation * predicted[node] + mean:.3g}")',
        ]),
    "",
  ].join("\n");
}
