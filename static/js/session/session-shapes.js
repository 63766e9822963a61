/**
 * The shape of each part of a saved session: data from storage, files and links must fit it,
 * and be within the bounds of `bounds.js`.
 */

import * as is from "../../engine/forms.js";
import { CHOICES } from "../../engine/kinds.js";
import { checkOf, fieldsOf } from "../../engine/message-checks.js";
import {
  MOST,
  code,
  colour,
  float,
  known,
  measure,
  moment,
  name,
  result,
  seconds,
  tally,
} from "../state/bounds.js";
import { areRanges } from "../editor/line-locks.js";
import { curve, curves, storedFigure, thinCurve, trace, wholeGraph } from "./drawn-shapes.js";

const epochRow = {
  epoch: tally,
  step: tally,
  loss: result,
  accuracy: result,
  testLoss: result,
  testAccuracy: result,
};
const program = is.record({ exampleId: name, source: code, began: moment });

const fit = is.record({
  epochs: tally,
  steps_per_epoch: tally,
  total_steps: tally,
  batch_size: tally,
  metrics: is.listOf(name, MOST.names),
  device: name,
  device_reason: is.optional(name),
  precision: is.optional(name),
  adapter: is.nullable(name),
  parameters: tally,
  done: is.optional(tally),
});

/** Programs within the bound of all of them; the page compares each with the next. @type {is.Check} */
const codesFit = (runs) =>
  runs.reduce(
    (/** @type {number} */ sum, /** @type {{code: string}} */ run) => sum + run.code.length,
    0,
  ) <= MOST.codes;

/** Of the run that a run branched from. */
const branch = { number: tally, step: tally };

const labNumbers = {
  devices: is.number,
  micro_batches: is.number,
  chunks: is.number,
  staleness: is.nullable(is.number),
  every: is.number,
  delays: is.listOf(is.number, MOST.devices),
  steps: is.number,
};
const labNames = { schedule: name, collective: name };
/** The numbers are brought within their bounds when they are used. */
const labSettings = is.record({ strategy: name, ...labNames, ...labNumbers });
const labOptions = is.record({
  strategy: name,
  ...Object.fromEntries(
    Object.entries({ ...labNames, ...labNumbers }).map(([each, check]) => [
      each,
      is.optional(check),
    ]),
  ),
});

const landmarks = is.listOf(is.tuple(tally, float), MOST.landmarks);
const settings = is.listOf(
  is.record({ ...fieldsOf("SettingChange"), name, before: float, after: float }),
  MOST.settings,
);
const device = is.oneOf(...CHOICES);

/**
 * Ids of examples, and of programs from files, which have their names: they become names of properties and of files.
 * @type {is.Check}
 */
export const isExampleId = (id) =>
  typeof id === "string" &&
  /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(id) &&
  !(id in Object.prototype);

/** Of a program that is open; one of a link may have no id. @type {is.Check} */
const isOpenId = (id) => id === "" || isExampleId(id);

/** A program in a link. */
export const SHARED = is.record({
  version: is.oneOf(1),
  exampleId: isOpenId,
  title: name,
  code,
  device,
  view: name,
  picture: is.optional(name),
  lab: is.nullable(labSettings),
  hidden: is.optional(is.listOf(name, MOST.names)),
  locked: is.optional(areRanges),
  expected: is.nullable(is.record({ losses: landmarks, steps: tally, device: name })),
});

/** Checks by the name of the part; that of "code" is for the code of one example. */
export const SHAPES = {
  code,
  choices: is.record({
    exampleId: name,
    device,
    view: name,
    pictures: is.optional(is.listOf(is.tuple(isOpenId, name), MOST.programs)),
    graphColours: is.oneOf("phase", "device", "time", "magnitude"),
    lab: labSettings,
  }),
  run: is.record({
    state: checkOf("RunState"),
    program,
    fit: is.nullable(fit),
    progress: is.record({
      ...epochRow,
      stepsPerSecond: is.nullable(is.number),
      seconds,
      eta: known(seconds),
    }),
    epochs: is.listOf(is.record(epochRow), MOST.epochs),
    error: is.nullable(checkOf("ErrorInfo")),
    branch: is.optional(is.nullable(is.record({ ...branch, began: moment }))),
    curvesBegan: is.optional(moment),
  }),
  curves,
  losses: is.record({
    landmarks,
    shared: is.nullable(SHARED),
    settings: is.optional(settings),
    curvesBegan: is.optional(moment),
  }),
  locks: is.listOf(
    is.record({ exampleId: isExampleId, lines: areRanges, isHeld: is.flag }),
    MOST.programs,
  ),
  runs: is.both(
    is.listOf(
      is.both(
        is.record({
          id: moment,
          number: tally,
          exampleId: name,
          title: name,
          code,
          device,
          ranOn: name,
          lab: is.nullable(labSettings),
          state: name,
          step: tally,
          totalSteps: tally,
          seconds,
          loss: result,
          accuracy: result,
          testAccuracy: result,
          isPinned: is.flag,
          colour,
          isEdited: is.optional(is.flag),
          ...curve,
          settings: is.optional(settings),
          hasEarlierFits: is.optional(is.flag),
          parameters: is.optional(tally),
          epochs: is.optional(tally),
          trainAccuracy: is.optional(result),
          testLoss: is.optional(result),
          elo: is.optional(float),
          ratings: is.optional(is.listOf(is.tuple(tally, float), MOST.points)),
          branch: is.optional(is.record(branch)),
        }),
        thinCurve,
      ),
      MOST.runs,
    ),
    codesFit,
  ),
  output: is.listOf(
    is.record({
      text: is.textOf(MOST.characters),
      stream: is.oneOf("stdout", "stderr", "note", "input"),
      figure: is.optional(storedFigure),
    }),
    MOST.lines,
  ),
  graph: is.nullable(wholeGraph),
  lab: is.listOf(
    is.both(
      is.record({
        id: tally,
        colour,
        title: name,
        isSingle: is.flag,
        devices: is.whole(0, MOST.devices),
        state: name,
        program: code,
        example: name,
        device: is.nullable(name),
        isHeldUp: is.flag,
        msPerStep: known(measure),
        loss: result,
        ...curve,
        trace: is.nullable(trace),
        report: checkOf("ParallelReport"),
      }),
      thinCurve,
    ),
    MOST.labRuns,
  ),
  checkpoint: is.record({
    bytes: is.bytes,
    step: tally,
    totalSteps: tally,
    epoch: tally,
    epochs: tally,
    parameters: tally,
    finished: is.flag,
    at: moment,
    program,
    options: is.record({ devices: is.optional(is.number), lab: is.optional(labOptions) }),
  }),
};

/** @typedef {keyof typeof SHAPES} Shape */

/** The summary of a session, in the list of projects. */
export const SUMMARY = is.record({
  id: name,
  version: is.oneOf(1),
  created: moment,
  saved: moment,
  touched: is.flag,
  name: is.optional(name),
  exampleId: name,
  title: name,
  edited: is.flag,
  state: name,
  step: tally,
  totalSteps: tally,
});
