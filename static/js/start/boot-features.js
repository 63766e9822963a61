/** Browser features without which nothing can run; everything else is done without. */

import { t } from "../words/locale.js";

/** Features, by the name of the object or method that they provide. */
const NEEDED = /** @type {const} */ ([
  "Worker",
  "WebAssembly",
  "MessageChannel",
  "ReadableStream",
  "Atomics",
]);

/** What the browser lacks and what to do, as a sentence; "" if it has all that is needed. */
export function missingFeature() {
  const { features, missing, notIsolated } = t().errors;
  for (const name of NEEDED) {
    if (typeof Reflect.get(globalThis, name) === "undefined") return missing(features[name], name);
  }
  if (typeof SharedArrayBuffer === "undefined" && globalThis.crossOriginIsolated !== false) {
    return missing(features.SharedArrayBuffer, "SharedArrayBuffer");
  }
  return !globalThis.crossOriginIsolated || typeof SharedArrayBuffer === "undefined"
    ? notIsolated
    : "";
}
