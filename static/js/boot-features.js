/** Browser features without which nothing can run; everything else is done without. */

const WAY_OUT = "Open the page in a recent Chrome, Edge, Firefox or Safari, in a window without restrictions.";

/** Features, by the name of what they provide, in words for the visitor. @type {Record<string, string>} */
const NEEDED = {
  Worker: "web workers",
  WebAssembly: "WebAssembly",
  MessageChannel: "message channels",
  ReadableStream: "streams",
  Atomics: "atomic operations",
};

/** What the browser lacks and what to do, as a sentence; "" if it has all that is needed. */
export function missingFeature() {
  for (const [name, words] of Object.entries(NEEDED)) {
    if (typeof Reflect.get(globalThis, name) === "undefined") {
      return `This browser has no ${words} (${name}), without which Python cannot run in the page. ${WAY_OUT}`;
    }
  }
  if (typeof SharedArrayBuffer === "undefined" && globalThis.crossOriginIsolated !== false) {
    return `This browser has no shared memory (SharedArrayBuffer), without which Python cannot run in the page. ${WAY_OUT}`;
  }
  if (!globalThis.crossOriginIsolated || typeof SharedArrayBuffer === "undefined") {
    return "This page is not cross-origin isolated, so it cannot share memory with its workers. "
      + "Open it from playgrad's own server, at http://localhost or over HTTPS, in a browser that knows isolation: "
      + "a recent Chrome, Edge, Firefox or Safari.";
  }
  return "";
}
