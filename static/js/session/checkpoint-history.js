/**
 * The curves of a run from its checkpoint: files that Python writes have no other record of them. A checkpoint that
 * cannot be read has none here; training on from it says what is wrong with it.
 */

import { Curves } from "../pictures/curves.js";
import { headerOf } from "../files/safetensors.js";
import { isLandmark } from "../sharing/landmarks.js";
import { SHAPES } from "./session-shapes.js";

/**
 * @import { Kept } from "../state/types.js"
 *
 * @typedef {{epochs: number, step: number, total_steps: number, names: string[], history: Record<string, (number | null)[]>,
 *            seconds: number, data: {batch_size?: number}, steps: {$tensor: string}}} StoredFit as in `docs/checkpoints.md`
 */

const ABOUT = "playgrad-checkpoint";

/**
 * The parts of a session that show the run: "run", "curves" and "losses".
 * @param {Kept} kept
 * @returns {Map<"run" | "curves" | "losses", any>} empty if nothing was trained, or if it cannot be read
 */
export function historyOf(kept) {
  try {
    const stored = lastFit(kept.bytes);
    /** @type {Map<"run" | "curves" | "losses", any>} */
    const parts = stored && stored.fit.step > 0 ? partsOf(kept, stored) : new Map();
    return [...parts.entries()].every(([name, value]) => SHAPES[name](value)) ? parts : new Map();
  } catch (problem) {
    if (![SyntaxError, RangeError, TypeError].some((kind) => problem instanceof kind))
      throw problem;
    return new Map();
  }
}

/**
 * The last fit in a safetensors file, with the loss and the metrics of each step in rows.
 * @param {Uint8Array} bytes
 * @returns {{fit: StoredFit, rows: (number | null)[][]} | null}
 */
function lastFit(bytes) {
  const { header, start } = headerOf(bytes);
  const fit = parsed(header.__metadata__[ABOUT]).fits.at(-1);
  if (!fit) return null;
  const {
    dtype,
    shape: [count, width],
    data_offsets: [from, to],
  } = header[fit.steps.$tensor];
  if (dtype !== "F32" || width !== fit.names.length || to - from !== 4 * count * width)
    throw new RangeError("sizes differ");
  const view = new DataView(bytes.buffer, bytes.byteOffset + start + from, to - from);
  const number = (/** @type {number} */ at) => view.getFloat32(4 * at, true);
  const rows = Array.from({ length: count }, (_, row) =>
    Array.from({ length: width }, (_, column) => number(row * width + column)),
  );
  return { fit, rows };
}

/** JSON of Python, which has words for what is not finite; strings with those words stay. @param {string} text */
const parsed = (text) =>
  JSON.parse(
    text.replace(/"(?:[^"\\]+|\\.)*"?|-?Infinity|NaN/g, (part) =>
      part.startsWith('"') ? part : "null",
    ),
  );

/** @param {Kept} kept @param {{fit: StoredFit, rows: (number | null)[][]}} stored */
function partsOf({ finished, program, parameters, epoch }, { fit, rows }) {
  const accuracyAt = fit.names.findIndex((name) => name.endsWith("accuracy"));
  const accuracyName = fit.names[accuracyAt];
  const perEpoch = fit.total_steps / fit.epochs;
  const curves = new Curves();
  /** @type {any[]} */
  const epochs = [];
  /** @type {[number, number][]} */
  const landmarks = [];
  for (const [index, row] of rows.entries()) {
    const [step, loss] = [index + 1, row[0] ?? NaN];
    curves.add(step, loss, row[accuracyAt] ?? null);
    if (isLandmark(step) || step === rows.length) landmarks.push([step, loss]);
    // Where epochs differ in length, the file does not say at which steps they ended.
    if (step % perEpoch === 0) endEpoch(step / perEpoch, step);
  }

  /** @param {number} number from 1 @param {number} step */
  function endEpoch(number, step) {
    const mean = (/** @type {string} */ name) => fit.history[name]?.[number - 1] ?? null;
    const [testLoss, testAccuracy] = [mean("val_loss"), mean(`val_${accuracyName}`)];
    epochs.push({
      epoch: number,
      step,
      loss: mean("loss"),
      accuracy: mean(accuracyName),
      testLoss,
      testAccuracy,
    });
    curves.mark(step, testLoss, testAccuracy);
  }

  const last = rows.at(-1);
  const run = {
    state: finished ? "done" : "stopped",
    program,
    error: null,
    branch: null,
    epochs,
    // On which device it ran is not in the file.
    fit: {
      epochs: fit.epochs,
      steps_per_epoch: Math.round(perEpoch),
      total_steps: fit.total_steps,
      batch_size: fit.data.batch_size ?? 0,
      metrics: fit.names.slice(1),
      device: "",
      adapter: null,
      parameters,
    },
    progress: {
      epoch,
      step: fit.step,
      loss: last?.[0] ?? null,
      accuracy: last?.[accuracyAt] ?? null,
      testLoss: fit.history.val_loss?.at(-1) ?? null,
      testAccuracy: fit.history[`val_${accuracyName}`]?.at(-1) ?? null,
      stepsPerSecond: null,
      seconds: fit.seconds,
      eta: null,
    },
  };
  return new Map(
    /** @type {["run" | "curves" | "losses", any][]} */ ([
      ["run", run],
      ["curves", curves.save()],
      ["losses", { landmarks, shared: null, settings: [] }],
    ]),
  );
}
