/** Smaller versions of the trained network, which Python makes one after the other, a little at a time. */

import { batch, computed, effect, signal } from "../../../vendor/preact.js";
import { client } from "../../engine/engine.js";
import { download } from "../../files/download.js";
import { exportShrunk } from "../../files/model-files.js";
import * as store from "../../state/store.js";
import { t } from "../../words/locale.js";

/** @import { ShrinkProgress, ShrunkFormat, ShrunkPoint, ShrunkReport } from "../../../engine/messages.js" */

/** How long Python works before it looks for other questions, in seconds. */
const TURN = 0.1;
export const ORIGINAL = "original";

/** What the versions are compared on; null before the first. */
export const data = signal(/** @type {{tested: boolean, total: number} | null} */ (null));
/** The names of all versions, in the order in which they are made. */
export const versions = signal(/** @type {string[]} */ ([]));
/** The versions that are ready. @type {import("../../../vendor/preact.js").Signal<ShrunkPoint[]>} */
export const points = signal([]);
/** Why some could not be made, by name. @type {import("../../../vendor/preact.js").Signal<Record<string, string>>} */
export const failures = signal({});
export const isWorking = signal(false);
/** What went wrong, in a sentence. */
export const problem = signal("");
/** The report of the chosen version; null while there is none. */
export const report = signal(/** @type {ShrunkReport | null} */ (null));
/** The name of the version that is chosen in the panel. */
export const chosen = signal(/** @type {string | null} */ (null));
/** The version that is being fine-tuned, and the part of the epoch that is done. */
export const tuning = signal(/** @type {{name: string, share: number} | null} */ (null));
/** The version that is being made. */
export const current = computed(() =>
  isWorking.value
    ? versions.value.find(
        (name) => !(name in failures.value) && !points.value.some((each) => each.name === name),
      )
    : undefined,
);

/** The work that is under way, and the last choice: other objects than before once something else is wanted. */
const latest = { work: {}, choice: {} };

/** Forget all versions: the network that they come from has changed, or is gone. */
function forget() {
  latest.work = {};
  if (!data.peek() && !problem.peek()) return;
  batch(() => {
    data.value = report.value = chosen.value = store.shrunk.value = null;
    versions.value = points.value = [];
    failures.value = {};
    isWorking.value = false;
    tuning.value = null;
    problem.value = "";
  });
}

effect(() => {
  // What a run, a reset, another program or loaded weights change.
  void [store.executed.value, store.active.value, store.kept.value, store.engine.value];
  void store.liveModel.value;
  forget();
});

/** Make all versions, from the beginning. */
export async function begin() {
  forget();
  const mine = latest.work;
  isWorking.value = true;
  await attempt(mine, async () => {
    const begun = await client.ask({ kind: "shrink_begin" });
    if (mine !== latest.work) return;
    batch(() => {
      data.value = { tested: begun.tested, total: begun.total };
      versions.value = begun.versions;
    });
    await advance(mine, begun.versions);
  });
}

/** Go on with the versions that are still to be made. */
export async function resume() {
  const mine = (latest.work = {});
  isWorking.value = true;
  const known = new Set([...points.value.map(({ name }) => name), ...Object.keys(failures.value)]);
  const pending = versions.value.filter((name) => !known.has(name));
  await attempt(mine, () => advance(mine, pending));
}

/** Leave the versions that are not ready. */
export function stop() {
  latest.work = {};
  isWorking.value = false;
}

/** @param {object} mine @param {string[]} pending */
async function advance(mine, pending) {
  while (pending.length > 0 && mine === latest.work) {
    const progress = await client.ask({ kind: "shrink_next", seconds: TURN });
    take(progress); // also after a stop: Python has made it
    pending = progress.pending;
  }
}

/** @param {ShrinkProgress} progress */
function take({ point, failure }) {
  if (!data.value) return; // forgotten meanwhile
  if (point) points.value = [...points.value.filter(({ name }) => name !== point.name), point];
  const isKnown = points.value.some(({ name }) => name === failure?.name);
  if (failure && isKnown) problem.value = t().shrink.tuningFailed(failure.error.message);
  else if (failure) failures.value = { ...failures.value, [failure.name]: failure.error.message };
}

/** Choose a version: show its report, and let it answer wherever the network is tried out. @param {string} name */
export async function choose(name) {
  const point = points.value.find((each) => each.name === name);
  if (!point) return;
  const mine = { name };
  latest.choice = mine;
  batch(() => {
    chosen.value = name;
    report.value = null;
  });
  try {
    const isOriginal = name === ORIGINAL;
    await client.ask({ kind: "shrink_choose", name: isOriginal ? null : name });
    if (latest.choice !== mine || chosen.value !== name) return;
    store.shrunk.value = isOriginal ? null : point;
    if (isOriginal) return;
    const answer = await client.ask({ kind: "shrink_report", name });
    if (latest.choice === mine && chosen.value === name) report.value = answer;
  } catch (failure) {
    if (chosen.value === name) problem.value = /** @type {Error} */ (failure).message;
  }
}

/** Train a version for an epoch. @param {string} name */
export async function tune(name) {
  const mine = (latest.work = {});
  tuning.value = { name, share: 0 };
  problem.value = "";
  try {
    await client.ask({ kind: "shrink_tune", name });
    while (mine === latest.work) {
      const progress = await client.ask({ kind: "shrink_next", seconds: TURN });
      if (mine !== latest.work) return;
      take(progress);
      tuning.value = { name, share: progress.tuned };
      if (progress.point || progress.failure) break;
    }
  } catch (failure) {
    if (mine === latest.work) problem.value = /** @type {Error} */ (failure).message;
  }
  if (mine !== latest.work) return;
  tuning.value = null;
  if (chosen.value === name) await choose(name);
}

/** Leave the fine-tuning: the version is as it was before. */
export async function stopTuning() {
  latest.work = {};
  tuning.value = null;
  await client.ask({ kind: "shrink_tune", name: null });
}

/** Let the network itself answer again. */
export async function leave() {
  latest.choice = {};
  batch(() => {
    chosen.value = report.value = null;
  });
  await client.ask({ kind: "shrink_choose", name: null });
  store.shrunk.value = null;
}

/** Save a version as a file. @param {string} name @param {ShrunkFormat} format */
export async function save(name, format) {
  try {
    await download(await exportShrunk(name, format));
  } catch (failure) {
    store.note(t().shrink.exportFailed(/** @type {Error} */ (failure).message));
  }
}

/** @param {object} mine @param {() => Promise<void>} act */
async function attempt(mine, act) {
  try {
    await act();
  } catch (failure) {
    if (mine === latest.work) problem.value = /** @type {Error} */ (failure).message;
  }
  if (mine === latest.work) isWorking.value = false;
}
