/** What the engine's workers report, in the language of the page: they have no message files, and write English. */

import { t } from "../words/locale.js";

/**
 * @import { Delay, Loading, Sentence } from "../../engine/messages.js"
 *
 * @typedef {Omit<Loading, "problem"> & {problem?: string}} LoadingInWords `problem`: in sentences, "" while all is well
 */
/** @template E @typedef {Exclude<E, Loading> | Extract<LoadingInWords, {kind: E extends Loading ? "loading" : never}>} InWords */

/** A sentence, or a part of one. @param {Sentence | string} sentence */
export const said = (sentence) =>
  t().engine.said(
    typeof sentence === "string" ? { message: sentence, code: "", values: {} } : sentence,
  );

/** @param {Delay} delay */
function delayed({ seconds, isMissing, ...sentence }) {
  const words = t().engine;
  const again = words.again(said(sentence), seconds);
  return isMissing ? words.perhapsUpdated(again) : again;
}

/** What is wrong with a data set, "" for nothing. @param {Delay | null} delay */
export const dataProblem = (delay) => (delay ? t().engine.dataSet(delayed(delay)) : "");

/** Replace the English in an event. @template {{kind: string}} E @param {E} event @returns {InWords<E>} */
export function inWords(event) {
  const all = /** @type {any} */ (event);
  if (event.kind === "loading") return { ...all, problem: all.problem ? delayed(all.problem) : "" };
  if (event.kind === "device" && !all.available) return { ...all, error: said(all.error) };
  if (event.kind === "crash") return { ...all, message: said(all.problem ?? all.message) };
  if (event.kind === "device_worker" && all.message !== undefined)
    return { ...all, message: said(all.message) };
  return all;
}
