import { html, signal, useEffect } from "../../../vendor/preact.js";
import * as store from "../../store.js";

/** The slider, once it has been loaded. */
const LookBack = signal(/** @type {(() => any) | null} */ (null));

async function load() {
  try {
    LookBack.value = (await import("./look-back.js")).LookBack;
  } catch {
    // The page works without it, and with the next checkpoint it is tried again.
  }
}

/** The way back along the curve, loaded once there is one. */
export function LazyLookBack() {
  const { length } = store.checkpoints.value;
  useEffect(() => {
    if (length > 0 && !LookBack.value) load();
  }, [length]);
  return LookBack.value && html`<${LookBack.value} />`;
}
