/** The changes of a program that make it use a data set, and a program to begin with. */

import { argumentOf } from "../blocks/calls.js";
import { nameFor, setArgument } from "../blocks/edits.js";
import { insertion, lineStart } from "../blocks/lists.js";

/**
 * @import { Change, Program } from "../blocks/types.js"
 * @import { About } from "./user-data.js"
 */

const TARGETS = "(x_train, y_train), (x_test, y_test)";
/** The same names, written with or without parentheses around all of them. */
const SAME_TARGETS = /^\(?\(x_train, y_train\), \(x_test, y_test\)\)?\s*=\s*$/;

/** A name as Python writes it: data sets have names without quotation marks. @param {string} name */
const literal = (name) => `"${name}"`;

/**
 * Have a program load a data set: in place of one that it loads by name or with the same targets,
 * otherwise in a line after the imports.
 * @param {Program} program
 * @param {string} name
 * @returns {Change[]} none if it does so already
 */
export function loadChanges(program, name) {
  const loaded = program.data.find(
    (call) => call.kind === "load" && argumentOf(call, "name")?.value?.type === "string",
  );
  if (loaded) return setArgument(program, loaded, "name", literal(name));
  const { name: load, changes } = nameFor(program, "data.load");
  const line = `${load}(${literal(name)})`;
  const same = program.data.find((call) =>
    SAME_TARGETS.test(program.text.slice(lineStart(program.text, call.from), call.from)),
  );
  if (same) return [...changes, { from: same.from, to: same.to, insert: line }];
  const { importsEnd } = program.names;
  const text = `${TARGETS} = ${line}`;
  if (importsEnd > 0) return [...changes, insertion(importsEnd, `\n\n${text}`)];
  return [
    ...changes,
    insertion(changes[0]?.from ?? 0, changes.length > 0 ? `\n${text}\n` : `${text}\n`),
  ];
}

/**
 * A whole program that trains on a data set.
 * @param {string} name
 * @param {About} about
 */
export function starterProgram(name, { shape, classes, train }) {
  const isImage = shape.length === 3;
  const isClasses = classes.length > 0;
  const units = Math.min(64, Math.max(16, 8 * (classes.length || 1)));
  const large = isImage && shape[0] >= 24;
  const layers = [
    ...(isImage
      ? [
          'nn.Conv2D(8, 3, activation="relu"),',
          "nn.MaxPool2D(2),",
          'nn.Conv2D(16, 3, activation="relu"),',
          ...(large ? ["nn.MaxPool2D(2),"] : []),
          "nn.Flatten(),",
        ]
      : shape.length > 1
        ? ["nn.Flatten(),"]
        : []),
    ...(isImage ? [] : [`nn.Dense(${units}, activation="relu"),`]),
    `nn.Dense(${units}, activation="relu"),`,
    isClasses ? `nn.Dense(${classes.length}),  # a score for each class` : "nn.Dense(1),",
  ];
  const batch = train >= 2000 ? 64 : train >= 200 ? 32 : 8;
  const epochs = Math.max(
    4,
    Math.min(40, Math.round((2000 * batch) / Math.max(train, batch) / (isImage ? 4 : 1))),
  );
  const named = isClasses && isImage ? [`print(pg.data.class_names(${literal(name)}))`] : [];
  return [
    "import playgrad as pg",
    "from playgrad import nn",
    "",
    `${TARGETS} = pg.data.load(${literal(name)})`,
    ...named,
    "",
    ...(isClasses
      ? []
      : [
          "# Bring the targets to mean 0 and deviation 1, with the numbers of the training part.",
          "mean, deviation = y_train.mean(), y_train.std()",
          "y_train, y_test = (y_train - mean) / deviation, (y_test - mean) / deviation",
          "",
        ]),
    "model = pg.Sequential(",
    "    [",
    ...layers.map((layer) => `        ${layer}`),
    "    ]",
    ")",
    "",
    "model.compile(",
    `    optimizer=pg.optim.Adam(learning_rate=${isImage ? "0.003" : "0.01"}),`,
    isClasses ? "    loss=nn.SparseCategoricalCrossentropy(from_logits=True)," : '    loss="mse",',
    ...(isClasses ? ['    metrics=["accuracy"],'] : []),
    ")",
    "model.fit(",
    "    x_train,",
    "    y_train,",
    `    batch_size=${batch},`,
    `    epochs=${epochs},`,
    "    validation_data=(x_test, y_test),",
    ")",
    "",
  ].join("\n");
}
