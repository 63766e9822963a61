/** The examples, and the user's changes to each of them, which the browser keeps. */

import { batch } from "../vendor/preact.js";
import { recall, remember } from "./storage.js";
import * as store from "./store.js";

/** Load the list, and open the last open example, or the first for a new visitor. */
export async function loadExamples() {
  try {
    const response = await fetch("/examples.json");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const list = await response.json();
    batch(() => {
      store.examples.value = list;
      const last = recall("example");
      const open = store.examples.value.find((each) => each.id === last) ?? list[0];
      if (open) selectExample(open.id);
    });
  } catch (problem) {
    const message = `The examples could not be loaded: ${/** @type {Error} */ (problem).message}.`;
    store.error.value = { type: "LoadError", message, line: null, op: null };
  }
}

/** @param {string} id */
export function selectExample(id) {
  const chosen = store.examples.value.find((each) => each.id === id);
  if (!chosen) return;
  batch(() => {
    store.exampleId.value = id;
    store.source.value = recall(`code.${id}`) ?? chosen.source;
    store.revealedLine.value = null;
  });
  remember("example", id);
}

/** @param {string} code the content of the editor */
export function edit(code) {
  store.source.value = code;
  const id = store.exampleId.value;
  if (id) remember(`code.${id}`, store.edited.value ? code : null);
}

/** Discard the user's changes to this example. */
export function restoreExample() {
  const original = store.example.value;
  if (original) edit(original.source);
}
