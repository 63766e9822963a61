import { html, signal, useEffect } from "../../../vendor/preact.js";
import * as store from "../../state/store.js";

/** The slider, once it has been loaded. @type {import("../../../vendor/preact.js").Signal<typeof import("./checkpoint-slider.js") | null>} */
const loaded = signal(null);

async function load() {
  try {
    loaded.value = await import("./checkpoint-slider.js");
  } catch {
    // The page works without it, and with the next checkpoint it is tried again.
  }
}

/** Show the checkpoint that is nearest to a step. @param {number} step */
export const showNearest = (step) => loaded.value?.showNearest(step);

/** The slider along the checkpoints, loaded once there is one. */
export function LazyCheckpointSlider() {
  const { length } = store.checkpoints.value;
  useEffect(() => {
    if (length > 0 && !loaded.value) load();
  }, [length]);
  return loaded.value && html`<${loaded.value.CheckpointSlider} />`;
}
