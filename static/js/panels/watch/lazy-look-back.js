import { html, signal, useEffect } from "../../../vendor/preact.js";
import * as store from "../../state/store.js";

/** The slider, once it has been loaded. @type {import("../../../vendor/preact.js").Signal<typeof import("./look-back.js") | null>} */
const loaded = signal(null);

async function load() {
  try {
    loaded.value = await import("./look-back.js");
  } catch {
    // The page works without it, and with the next checkpoint it is tried again.
  }
}

/** Look at the checkpoint that is nearest to a step. @param {number} step */
export const lookNear = (step) => loaded.value?.lookNear(step);

/** The way back along the curve, loaded once there is one. */
export function LazyLookBack() {
  const { length } = store.checkpoints.value;
  useEffect(() => {
    if (length > 0 && !loaded.value) load();
  }, [length]);
  return loaded.value && html`<${loaded.value.LookBack} />`;
}
