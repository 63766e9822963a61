/** Why there is no GPU, in the language of the page. */

import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** @import { GpuReason } from "../../engine/gpu-reasons.js" */

/** @param {GpuReason | null} reason @param {string} message in its place where there is none */
export const reasonInWords = (reason, message) =>
  reason ? t().devices.reasons[reason.kind](reason.detail) : message;

/** Why there is no GPU now, as a part of a sentence; "" if there is one, or none was looked for. */
export const gpuProblem = () =>
  reasonInWords(store.gpu.value.reason ?? null, store.gpu.value.problem ?? "");
