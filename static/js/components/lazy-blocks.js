import { html, signal, useEffect } from "../../vendor/preact.js";

/** Blocks, once they have been loaded. @type {import("../../vendor/preact.js").Signal<(() => any) | null>} */
const panel = signal(null);
/** Why they could not be loaded. */
const problem = signal("");

/** Load Blocks: their thirty modules are not needed to write code and to run it. */
async function loadBlocks() {
  try {
    const { BlocksPanel } = await import("./blocks-panel.js");
    panel.value = BlocksPanel;
  } catch (failure) {
    problem.value = /** @type {Error} */ (failure).message;
  }
}

/** Blocks, loaded when they are first shown. */
export function LazyBlocks() {
  useEffect(() => {
    if (!panel.value) loadBlocks();
  }, []);
  if (panel.value) return html`<${panel.value} />`;
  return html`<p class="lab-wait" role="status">${problem.value
    ? `Blocks could not be loaded: ${problem.value}. Reload the page to try again; your work is saved.`
    : "Loading the blocks…"}</p>`;
}
