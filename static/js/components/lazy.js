import { html, signal, useEffect } from "../../vendor/preact.js";

/**
 * A component that is loaded when it is first shown, because most visits do without it.
 * @param {() => Promise<() => any>} load imports it
 * @param {{name: string, waiting: string}} words `name`: in the plural, at the beginning of a sentence
 * @returns {() => any}
 */
export function lazy(load, { name, waiting }) {
  const loaded = signal(/** @type {(() => any) | null} */ (null));
  const problem = signal("");

  async function begin() {
    try {
      loaded.value = await load();
    } catch (failure) {
      problem.value = /** @type {Error} */ (failure).message;
    }
  }

  return function Lazy() {
    useEffect(() => {
      if (!loaded.value) begin();
    }, []);
    if (loaded.value) return html`<${loaded.value} />`;
    return html`<p class="lab-wait" role="status">${problem.value
      ? `${name} could not be loaded: ${problem.value}. Reload the page to try again; your work is saved.`
      : waiting}</p>`;
  };
}
