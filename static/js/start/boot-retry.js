/** Starts Python again when it could not be started: at growing intervals, and when the computer is online again. */

import { batch, effect } from "../../vendor/preact.js";
import { SCRIPT } from "../../engine/interpreter.js";
import { t } from "../words/locale.js";
import { refetchModule } from "./refetch.js";
import * as store from "../state/store.js";

/** Pauses before Python is started again, in milliseconds; the last one repeats. */
const PAUSES_MS = [2000, 4000, 8000, 15_000, 30_000, 60_000];

/** Start Python again while it cannot be started, for the lifetime of the page. */
export function keepStarting() {
  const tries = { count: 0, timer: 0 };
  effect(() => {
    clearTimeout(tries.timer);
    if (store.engine.value === "up") tries.count = 0;
    if (store.engine.value !== "broken") return;
    const pause = PAUSES_MS[Math.min(tries.count, PAUSES_MS.length - 1)];
    tries.count += 1;
    tries.timer = setTimeout(startAgain, pause);
    store.reportLoading("python", t().loading.notStarted(pause / 1000));
  });
  addEventListener("online", startAgain);
}

/** Start Python again if it could not be started. */
export async function startAgain() {
  if (store.engine.value !== "broken") return;
  store.reportLoading("python", t().loading.startingAgain);
  await refetchModule(SCRIPT);
  if (store.engine.value !== "broken") return;
  batch(() => {
    store.reportLoading("python", "");
    store.error.value = null;
    store.runState.value = "idle";
    store.engine.value = "starting";
  });
}
