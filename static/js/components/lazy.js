import { html, signal, useEffect } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

/**
 * A component that is loaded when it is first shown, because most visits do without it.
 * @param {() => Promise<(props: any) => any>} load imports it
 * @param {() => {name: string, waiting: string}} words in the language of the page; `name`: in the plural, at the beginning of a sentence
 * @returns {(props: any) => any}
 */
export function lazy(load, words) {
  const loaded = signal(/** @type {((props: any) => any) | null} */ (null));
  const problem = signal("");

  async function begin() {
    try {
      loaded.value = await load();
    } catch (failure) {
      problem.value = /** @type {Error} */ (failure).message;
    }
  }

  return function Lazy(/** @type {any} */ props) {
    useEffect(() => {
      if (!loaded.value) begin();
    }, []);
    if (loaded.value) return html`<${loaded.value} ...${props} />`;
    const { name, waiting } = words();
    return html`<p class="lab-wait" role="status">${problem.value ? t().loading.failed(name, problem.value) : waiting}</p>`;
  };
}
