import { html, useEffect } from "../../../vendor/preact.js";
import { tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import {
  answer,
  ask,
  isAsking,
  isQuery,
  matches,
  nextMatch,
  revealed,
  searched,
} from "./graph-find.js";
import { reasonOf } from "./node-words.js";

/**
 * Finds operations by name, or by their values.
 * @param {{onReveal: (scopes: Set<string>) => void}} props `onReveal`: opens scopes
 */
export function GraphSearch({ onReveal }) {
  const words = t().nodeTabs.search;
  const text = searched.value;
  useEffect(() => onReveal(revealed(null)), [matches.value]);

  /** @param {1 | -1} direction */
  function go(direction) {
    const name = nextMatch(direction);
    if (name === null) return;
    store.selectedNode.value = name;
    onReveal(revealed(name));
  }

  /** @param {KeyboardEvent} event */
  async function onKeyDown(event) {
    if (event.key === "Escape" && text) searched.value = "";
    else if (event.key === "Enter") {
      const direction = event.shiftKey ? -1 : 1;
      if (isQuery(text) && !answer.value) {
        if (!isAsking.value) await ask();
      }
      go(direction);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return html`
    <div class="graph-search">
      <input type="search" value=${text} placeholder=${words.placeholder} aria-label=${words.label} spellcheck=${false}
        autocapitalize="off" autocomplete="off" data-testid="graph-search" aria-describedby="graph-search-note"
        onInput=${(/** @type {any} */ event) => (searched.value = event.target.value)} onKeyDown=${onKeyDown} />
      <p class="hint" role="status" id="graph-search-note" data-testid="graph-search-note">${note()}</p>
    </div>
  `;
}

/** The matches of the search. */
function note() {
  const words = t().nodeTabs.search;
  const text = searched.value;
  if (!text.trim()) return "";
  const names = matches.value;
  const here = names.indexOf(store.selectedNode.value ?? "");
  if (!isQuery(text)) return words.names(names.length, here);
  if (isAsking.value) return t().nodeTabs.asking;
  const reply = answer.value;
  if (!reply) return words.pressEnter;
  if (!reply.result) return reply.failure;
  const { problem, total, checked, skipped } = reply.result;
  if (problem) return reasonOf(problem);
  const number = reply.result.matches.find(([name]) => name === names[here])?.[1];
  return words.values(total, checked, skipped, here, number === undefined ? "" : tick(number));
}
