/** Measures how fast this machine trains. Python does a piece at a time, between which a run can begin. */

import { batch, effect, signal } from "../../../vendor/preact.js";
import { client } from "../../engine/engine.js";
import { hasSimd, stepThreads } from "../../engine/simd.js";
import { offer } from "../../files/download.js";
import * as store from "../../state/store.js";
import { adapterOf, browserOf } from "./speed-machine.js";
import { en, words } from "./speed-words.js";

/** @import { SpeedState, SpeedTexts } from "../../../engine/messages.js" */

/** The rows and the known card; null before the first measurement. */
export const measured = signal(/** @type {SpeedState | null} */ (null));
/** `stopping`: the piece that Python is at is waited for. */
export const work = signal(
  /** @type {"none" | "measuring" | "stopping" | "stopped" | "done"} */ ("none"),
);
/** What can be passed on, once the measurement has ended. */
export const texts = signal(/** @type {SpeedTexts | null} */ (null));
/** What went wrong, in a sentence. */
export const problem = signal("");
/** The outcome of copying, in a sentence. */
export const remark = signal("");
/** The devices that the visitor has chosen; null for those that are measured unless another is chosen. */
const picked = signal(/** @type {{gpu: boolean, cpu: boolean} | null} */ (null));

/** The measurement under way: another object than before once something else is wanted. */
const latest = { work: {} };

/** The devices to measure: a hardware GPU, and the processor, until the visitor chooses. */
export function chosen() {
  const { info } = store.gpu.value;
  const { gpu, cpu } = picked.value ?? { gpu: !info?.is_software, cpu: true };
  return { gpu: gpu && info !== null, cpu };
}

/** @param {"gpu" | "cpu"} device @param {boolean} isChosen */
export function choose(device, isChosen) {
  picked.value = { ...chosen(), [device]: isChosen };
}

/** What trains on the processor, in words. */
export const processor = (said = words()) =>
  !hasSimd ? said.plain : stepThreads > 1 ? said.threads(stepThreads) : said.oneThread;

effect(() => {
  if (store.active.value && ["measuring", "stopping"].includes(work.peek())) leave();
});

/** A run has begun, which forgets the measurement in Python. */
function leave() {
  latest.work = {};
  batch(() => {
    work.value = "stopped";
    problem.value = words().left;
  });
}

/** Measure everything anew. */
export async function measure() {
  const mine = (latest.work = {});
  const { gpu, cpu } = chosen();
  batch(() => {
    measured.value = texts.value = null;
    problem.value = remark.value = "";
    work.value = "measuring";
  });
  try {
    const isSoftware = store.gpu.value.info?.is_software ?? false;
    let state = await client.ask({
      kind: "speed_begin",
      devices: [
        ...(gpu ? [/** @type {const} */ ("gpu")] : []),
        ...(cpu ? [/** @type {const} */ ("cpu")] : []),
      ],
      browser: browserOf(navigator),
      processor: `${processor(en)}; ${navigator.hardwareConcurrency || "?"} cores`,
      adapter: gpu ? await adapterOf(navigator.gpu, isSoftware) : null,
    });
    while (mine === latest.work) {
      measured.value = state;
      if (state.row === null || work.value === "stopping") break;
      state = await client.ask({ kind: "speed_next" });
    }
    if (mine !== latest.work) return;
    texts.value = await client.ask({ kind: "speed_texts" });
  } catch (failure) {
    if (mine === latest.work) problem.value = /** @type {Error} */ (failure).message;
  }
  if (mine !== latest.work) return;
  work.value = measured.value?.row === null ? "done" : "stopped";
}

/** Leave the rows that are not measured yet. */
export function stop() {
  if (work.value === "measuring") work.value = "stopping";
}

/** Copy the table. */
export async function copy() {
  if (!texts.value) return;
  try {
    await navigator.clipboard.writeText(texts.value.markdown);
    remark.value = words().copied;
  } catch {
    remark.value = words().notCopied;
  }
}

/** Save everything as a file. */
export function save() {
  if (!texts.value) return;
  offer("playgrad-speed.json", new Blob([texts.value.json], { type: "application/json" }));
}
