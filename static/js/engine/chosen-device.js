/** Why "auto" took a device, in the language of the page: Python says it in English. */

import { t } from "../words/locale.js";
import { en } from "../messages/en.js";
import * as store from "../state/store.js";

/** Why "auto" took the device, or would take it for the next run; "" for one that was chosen by hand. */
export function whyChosen() {
  const name = store.gpu.value.info?.name ?? "";
  const words = t().devices.because;
  if (!store.active.value) {
    if (store.avoidsSoftware.value) return words.software(name);
    if (store.deviceChoice.value !== "auto") return "";
  }
  const reason = store.fit.value?.device_reason ?? "";
  const spoken = en.devices.because;
  if (reason === spoken.noGpu) return words.noGpu;
  if (reason === spoken.software(name)) return words.software(name);
  return reason === spoken.hardware(name) ? words.hardware(name) : reason;
}
