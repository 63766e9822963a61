/** The metrics that a program has its model measure. */

import { argumentOf } from "./calls.js";
import { METRICS } from "./catalogue.js";
import { setArgument } from "./edits.js";

/** @import { Call, Change, Program } from "./types.js" */

/** Other names of metrics of the menu. @type {Record<string, string>} */
const SAME = {
  acc: "accuracy",
  sparse_categorical_accuracy: "accuracy",
  categorical_accuracy: "accuracy",
  binary_accuracy: "accuracy",
  mae: "mean_absolute_error",
  mse: "mean_squared_error",
  rmse: "root_mean_squared_error",
};

/** @param {string} name as the program writes it @returns {string} */
export const metricOf = (name) => (Object.hasOwn(SAME, name) ? SAME[name] : name);

/**
 * The metrics of a training, by the names in the program.
 * @param {Call} compile
 * @returns {string[] | null} null if they are not names
 */
export function metricsOf(compile) {
  const given = argumentOf(compile, "metrics");
  if (!given || given.value?.type === "none") return compile.starred ? null : [];
  if (!given.literal || (given.value?.type !== "list" && given.value?.type !== "tuple"))
    return null;
  const names = given.value.value.flatMap((each) => (each.type === "string" ? [each.value] : []));
  return names.length === given.value.value.length ? names : null;
}

/**
 * The metrics that fit the loss.
 * @param {Call} compile
 * @param {number | null} [outputs] of the network, as far as they are known
 */
export function fittingMetrics(compile, outputs = null) {
  const loss = argumentOf(compile, "loss");
  const name = String(loss?.call?.kind ?? loss?.value?.value ?? "").toLowerCase();
  if (name.startsWith("binary")) return METRICS.binary;
  return /categorical|ctc|hinge|divergence/.test(name)
    ? METRICS.classes.filter(({ least }) => (outputs ?? Infinity) >= (least ?? 0))
    : METRICS.numbers;
}

/**
 * Measure something, or no longer.
 * @param {Program} program
 * @param {Call} compile
 * @param {string} name
 * @param {boolean} isOn
 * @returns {Change[]}
 */
export function setMetric(program, compile, name, isOn) {
  const before = metricsOf(compile) ?? [];
  const others = before.filter((each) => metricOf(each) !== metricOf(name));
  const next = isOn ? [...before, name] : others;
  const quote = /'/.test(argumentOf(compile, "metrics")?.text ?? "") ? "'" : '"';
  return setArgument(
    program,
    compile,
    "metrics",
    next.length > 0 ? `[${next.map((each) => quote + each + quote).join(", ")}]` : "None",
  );
}
