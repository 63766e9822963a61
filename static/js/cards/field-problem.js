import { html, useState } from "../../vendor/preact.js";
import * as store from "../state/store.js";

/**
 * Says why a field refused an entry, until it takes a value or the program changes. The field keeps the value before.
 * @param {string} id of the field
 */
export function useRefusal(id) {
  const [last, setLast] = useState({ words: "", source: "" });
  const problem = last.source === store.source.value ? last.words : "";
  const place = `${id}-problem`;
  return {
    refuse: (/** @type {string} */ words) => setLast({ words, source: store.source.peek() }),
    accept: () => setLast({ words: "", source: "" }),
    described: problem ? place : undefined,
    note: problem && html`<span id=${place} class="block-problem" role="alert">${problem}</span>`,
  };
}
