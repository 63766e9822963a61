import { html, signal, useEffect } from "../../vendor/preact.js";

/** The prompt, once it has been loaded. @type {import("../../vendor/preact.js").Signal<(() => any) | null>} */
const component = signal(null);

async function load() {
  try {
    component.value = (await import("./prompt.js")).Prompt;
  } catch {
    // The output works without it, and the next time it is shown it is tried again.
  }
}

/** The prompt below the output, loaded when it is first shown. */
export function LazyPrompt() {
  useEffect(() => {
    if (!component.value) load();
  }, []);
  return component.value && html`<${component.value} />`;
}
