/** Changes of a program's data: another data set, with what depends on it, and the share for training. */

import { t } from "../words/locale.js";
import { argumentOf } from "./calls.js";
import { classNameChanges } from "./class-names.js";
import { commentChanges } from "./data-comments.js";
import { SETS, hasRatio } from "./data.js";
import { changesByLine, difference, nameFor, setArgument, setClass } from "./edits.js";
import { applyChanges } from "./lists.js";
import { readProgram } from "./reader.js";
import { inferShapes } from "./shapes.js";
import { parametersOf } from "./signatures.js";
import { addLayer, canRemove, removeLayer } from "./structure.js";
import { assignment, children, elements, parse, walk } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Call, Change, Program, Range } from "./types.js" */

/** @typedef {{changes: Change[], reason?: undefined} | {changes?: undefined, reason: string}} Outcome */
/**
 * @typedef {object} Parts the names that an assignment gives to data
 * @property {string[]} names
 * @property {boolean} isDivided whether they are of two parts
 * @property {Range} targets
 */

/** Arguments of data that a program makes: points, and coloured shapes. */
const MADE = ["samples", "noise", "seed", "ratio"];
/** Layers that only prepare images. */
const PREPARING = ["Rescaling", "Flatten", "Reshape"];
const CLASS_LOSS = "SparseCategoricalCrossentropy";
/** Methods of a model that take data as it is. */
const TAKING = ["fit", "evaluate", "predict"];

/** Why a change is not possible, in a sentence. */
class Refusal extends Error {}

/**
 * Replace the data set, and change what depends on it: the first and last layers, the loss, and what
 * comments say of the data.
 * @param {Program} program
 * @param {Call} call of the data set
 * @param {string} kind of the new one
 * @param {(piece: Range) => boolean} [isHeld] whether a comment cannot be changed
 * @returns {Outcome}
 */
export function setData(program, call, kind, isHeld = () => false) {
  if (call.kind === kind) return { changes: [] };
  const number = program.data.findIndex(({ from }) => from === call.from);
  const described = readProgram(
    applyChanges(program.text, commentChanges(program, call, kind, isHeld)),
  );
  const outcome = replaceData(described, described.data[number], kind);
  if (!outcome.changes) return outcome;
  const replaced = applyChanges(described.text, outcome.changes);
  const named = applyChanges(replaced, classNameChanges(replaced, call.kind, kind));
  return { changes: changesByLine(program.text, named) };
}

/** @param {Program} program @param {Call} call @param {string} kind @returns {Outcome} */
function replaceData(program, call, kind) {
  const [before, after] = [SETS[call.kind], SETS[kind]];
  const isSame =
    before.shape.join() === after.shape.join() &&
    before.classes === after.classes &&
    before.sort === after.sort;
  if (isSame) return { changes: setClass(program, call, `data.${kind}`) };
  return attempt(program, (draft) => {
    draft.expectOneTraining();
    usedParts(program);
    draft.suit(before, after);
    draft.divide();
    draft.edit((current) => {
      const [old] = current.data;
      const { name, changes } = nameFor(current, `data.${kind}`);
      return [
        ...changes,
        { from: old.from, to: old.to, insert: `${name}(${argumentsFor(kind, old)})` },
      ];
    });
    draft.expectFit(after);
  });
}

/**
 * The arguments of new data: taken from the former data where both have them. For points the defaults of the
 * others are written out, so that the program shows its noise and its seed.
 * @param {string} kind
 * @param {Call} former
 */
function argumentsFor(kind, former) {
  if (!isMadeUp(kind)) return "";
  const defaults = SETS[kind].sort === "points" ? pointDefaults(kind) : {};
  return MADE.flatMap((parameter) => {
    const { text, value } = argumentOf(former, parameter) ?? {};
    const written = text === undefined || value?.type === "none" ? defaults[parameter] : text;
    if (!written) return [];
    return [parameter === "samples" ? written : `${parameter}=${written}`];
  }).join(", ");
}

/** Whether a data set is made up by a program, by numbers that can be chosen. @param {string} kind */
export const isMadeUp = (kind) => Boolean(parametersOf(`data.${kind}`)?.length);

/** The defaults of points, by parameter, but divided into two parts. @param {string} kind */
function pointDefaults(kind) {
  const parameters = parametersOf(`data.${kind}`) ?? [];
  /** @type {Record<string, string | null | undefined>} */
  const defaults = {
    ...Object.fromEntries(parameters.map((each) => [each.name, each.default])),
    ratio: "0.8",
  };
  return defaults;
}

/**
 * Set the share of points for training; a program that had one part gets a second one, for validation.
 * @param {Program} program
 * @param {Call} call of the points
 * @param {string} ratio
 * @returns {Outcome}
 */
export function setRatio(program, call, ratio) {
  if (hasRatio(call) || SETS[call.kind].sort === "images")
    return { changes: setArgument(program, call, "ratio", ratio) };
  return attempt(program, (draft) => {
    draft.expectOneTraining();
    usedParts(program);
    const held = argumentOf(program.trainings[0].fit, "validation_split");
    if (held) throw new Refusal(t().dataChange.held(held.text));
    draft.divide();
    draft.edit((current) => setArgument(current, current.data[0], "ratio", ratio));
  });
}

/** @param {Program} program @param {(draft: Draft) => void} change @returns {Outcome} */
function attempt(program, change) {
  const draft = new Draft(program);
  try {
    change(draft);
  } catch (error) {
    if (error instanceof Refusal) return { reason: error.message };
    throw error;
  }
  return { changes: difference(program.text, draft.program.text) };
}

/** A program while it is changed in steps. */
class Draft {
  /** @param {Program} program */
  constructor(program) {
    this.program = program;
  }

  /** @param {(program: Program) => Change[] | null} make null if it cannot be done */
  edit(make) {
    const changes = make(this.program);
    if (changes === null) throw new Refusal(t().dataChange.noList);
    if (changes.length > 0) this.program = readProgram(applyChanges(this.program.text, changes));
  }

  expectOneTraining() {
    const { data, networks, trainings } = this.program;
    if (data.length !== 1) throw new Refusal(t().dataChange.severalSets);
    if (networks.length !== 1 || trainings.length !== 1)
      throw new Refusal(t().dataChange.notOneNetwork);
    if (!trainings[0].fit || !trainings[0].compile) throw new Refusal(t().dataChange.noFit);
  }

  /** Name a second part of the data, and give it to `fit`. */
  divide() {
    const { names, isDivided } = usedParts(this.program);
    const fit = this.program.trainings[0].fit;
    if (isDivided || !fit) return;
    const others = names.map((name) => freeName(name, this.program.text));
    const isHeld = argumentOf(fit, "validation_data") ?? argumentOf(fit, "validation_split");
    if (!isHeld)
      this.edit((current) =>
        setArgument(current, fit, "validation_data", `(${others.join(", ")})`),
      );
    this.edit((current) => [
      { ...usedParts(current).targets, insert: `(${names.join(", ")}), (${others.join(", ")})` },
    ]);
  }

  /** @param {typeof SETS[string]} before @param {typeof SETS[string]} after */
  suit(before, after) {
    this.setOutput(after.classes);
    const { items } = this.program.networks[0];
    const input = items[0]?.type === "input" ? 1 : 0;
    if (input && argumentOf(items[0].call, "dtype")) throw new Refusal(t().dataChange.inputDtype);
    if (input) {
      const shape = `(${after.shape.join(", ")}${after.shape.length === 1 ? "," : ""})`;
      this.edit((current) =>
        setArgument(
          current,
          /** @type {Call} */ (current.networks[0].items[0].call),
          "shape",
          shape,
        ),
      );
    }
    if (after.sort === "points") return this.removeFirst(input, PREPARING);
    if (before.sort === "images") {
      this.reshape(input, after.shape);
      return;
    }
    for (const [kind, given] of [
      ["Flatten", ""],
      ["Rescaling", "1 / 255"],
    ]) {
      this.edit((current) => addLayer(current, current.networks[0], input, `nn.${kind}`, given));
    }
  }

  /** Remove the first layers, as long as they are of these kinds. @param {number} at @param {string[]} kinds */
  removeFirst(at, kinds) {
    for (;;) {
      const item = this.program.networks[0].items[at];
      if (!item?.call || !kinds.includes(item.call.kind)) return;
      if (!canRemove(item)) throw new Refusal(t().dataChange.notRemovable(item.call.kind));
      this.edit((current) => removeLayer(current, item));
    }
  }

  /** Put images with or without channels in the shape that convolutions take. @param {number} from @param {number[]} shape */
  reshape(from, shape) {
    const { items } = this.program.networks[0];
    const at = items.findIndex(({ call }, index) => index >= from && call?.kind === "Reshape");
    if (shape.length === 3 && at >= 0 && at <= from + 1)
      this.edit((current) => removeLayer(current, current.networks[0].items[at]));
    const takesChannels = items.some(
      ({ call }) =>
        call && /^(Separable|Depthwise)?Conv2D|^(Max|Average)Pool(ing)?2D/.test(call.kind),
    );
    if (shape.length === 2 && takesChannels) {
      const place = from + (items[from]?.call?.kind === "Rescaling" ? 1 : 0);
      this.edit((current) =>
        addLayer(current, current.networks[0], place, "nn.Reshape", `(${shape.join(", ")}, 1)`),
      );
    }
  }

  /** A score for each class, and the loss for them. @param {number} classes */
  setOutput(classes) {
    const output = () =>
      this.program.networks[0].items.filter(({ call }) => call?.kind !== "Softmax").at(-1)?.call ??
      null;
    if (output()?.kind !== "Dense") throw new Refusal(t().dataChange.lastNotDense);
    const units = argumentOf(output(), "units");
    if (units && !units.literal) throw new Refusal(t().dataChange.units(units.text));
    const compile = () => /** @type {Call} */ (this.program.trainings[0].compile);
    const loss = argumentOf(compile(), "loss");
    const kind = loss?.call?.kind ?? loss?.value?.value;
    if (kind !== CLASS_LOSS && kind !== "sparse_categorical_crossentropy") {
      if (loss && !loss.call && loss.value?.type !== "string")
        throw new Refusal(t().dataChange.loss(loss.text));
      const metrics = argumentOf(compile(), "metrics");
      if (metrics)
        this.edit((current) => setArgument(current, compile(), "metrics", '["accuracy"]'));
      this.edit((current) => {
        const { name, changes } = nameFor(current, `nn.${CLASS_LOSS}`);
        return [
          ...changes,
          ...setArgument(current, compile(), "loss", `${name}(from_logits=True)`),
        ];
      });
      this.edit((current) =>
        setArgument(current, /** @type {Call} */ (output()), "activation", "None"),
      );
    }
    this.edit((current) =>
      setArgument(current, /** @type {Call} */ (output()), "units", String(classes)),
    );
  }

  /** @param {typeof SETS[string]} set */
  expectFit({ sort, shape }) {
    const {
      networks: [network],
      broken,
    } = this.program;
    const shapes = inferShapes(this.program);
    const kind = network.items.find(({ id }) => shapes.get(id)?.problem)?.call?.kind;
    if (kind)
      throw new Refusal(
        sort === "points"
          ? t().dataChange.notForPoints(kind)
          : t().dataChange.notForImages(kind, shape.join(" × ")),
      );
    if (broken || network.input?.shape.join() !== shape.join())
      throw new Refusal(t().dataChange.lost);
  }
}

/**
 * The names of the data, if they are used in no other way than by the model.
 * @param {Program} program with one data set
 * @returns {Parts}
 */
function usedParts({ text, data: [call] }) {
  const script = parse(text);
  /** @type {Parts | null} */
  let parts = null;
  for (const statement of children(script)) {
    if (statement.name === "AssignStatement") parts ??= partsOf(statement, call, text);
  }
  if (!parts) throw new Refusal(t().dataChange.takenApart);
  const { names, targets } = parts;
  walk(script, (node) => {
    if (node.name !== "VariableName" || !names.includes(text.slice(node.from, node.to))) return;
    if (node.from >= targets.from && node.to <= targets.to) return;
    if (!isTaken(node, text)) {
      const line = text.slice(0, node.from).split("\n").length;
      throw new Refusal(t().dataChange.computed(line));
    }
  });
  return parts;
}

/** @param {Node} statement @param {Call} call @param {string} text @returns {Parts | null} */
function partsOf(statement, call, text) {
  const { targets, values } = assignment(statement);
  if (values.length !== 1 || values[0].from !== call.from || values[0].to !== call.to) return null;
  if (targets.length !== 1 || targets[0].length !== 2) return null;
  const [first, last] = targets[0];
  const isDivided = SETS[call.kind].sort === "images" || hasRatio(call);
  const nodes = targets[0].flatMap((each) =>
    isDivided && each.name === "TupleExpression" ? elements(each).flat() : [each],
  );
  if (nodes.some(({ name }) => name !== "VariableName")) return null;
  return {
    names: nodes.map(({ from, to }) => text.slice(from, to)),
    isDivided,
    targets: { from: first.from, to: last.to },
  };
}

/** Whether a model takes a name as it is. @param {Node} node @param {string} text */
function isTaken(node, text) {
  const outer = node.parent?.name === "TupleExpression" ? node.parent.parent : node.parent;
  const callee = outer?.name === "ArgList" && outer.parent ? children(outer.parent)[0] : null;
  const method = callee?.name === "MemberExpression" ? callee.lastChild : null;
  return (
    method !== null && method !== undefined && TAKING.includes(text.slice(method.from, method.to))
  );
}

/** A name for the second part, such as "x_test". @param {string} name @param {string} text */
function freeName(name, text) {
  const base = `${name.replace(/_train$/, "")}_test`;
  let free = base;
  for (let number = 2; new RegExp(`\\b${free}\\b`).test(text); number += 1)
    free = `${base}_${number}`;
  return free;
}
