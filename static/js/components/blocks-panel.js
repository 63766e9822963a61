import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import * as commands from "../block-commands.js";
import { announcement, focusedBlock, program, shapes, undoChange } from "../blocks-model.js";
import { canAdd } from "../blocks/structure.js";
import { changesInWords } from "../code-diff.js";
import * as format from "../format.js";
import * as store from "../store.js";
import { BlockCard } from "./block-card.js";
import { AddBlock } from "./block-menu.js";
import { BroughtCard } from "./brought-card.js";
import { DataCard } from "./data-card.js";
import { TrainingCard } from "./training-card.js";

/** A change of the learning rate in words: by its name, or as the optimizer's only number. */
const RATE = /^(learning_rate|SGD|Momentum|Adam|AdamW|RMSprop|Adagrad|Lion) \S+ → \S+$/;

/** @import { Network } from "../blocks/types.js" */

/** The program as cards: data, layers, training. */
export function BlocksPanel() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const { data, networks, trainings, broken } = program.value;
  const focused = focusedBlock.value;

  useLayoutEffect(() => {
    if (!focused) return;
    focusedBlock.value = null;
    const { network, index } = focused;
    const card = place.current?.querySelector(`[data-position="${network}-${index}"]`);
    /** @type {HTMLElement | null | undefined} */
    const target = card?.querySelector(".block-grip") ?? place.current?.querySelector("[data-testid=add-block]");
    target?.focus();
  }, [focused]);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z";
    const isText = event.target instanceof HTMLInputElement && event.target.defaultValue !== event.target.value;
    if (!isUndo || isText) return;
    event.preventDefault();
    undoChange(event.shiftKey);
  }

  const isEmpty = data.length + networks.length + trainings.length === 0;
  return html`<div class="blocks" ref=${place} onKeyDown=${onKeyDown} data-testid="blocks">
    ${broken && html`<p class="blocks-note" data-testid="blocks-broken">The code has a slip in its syntax, so cards may be missing.</p>`}
    ${isEmpty && store.source.value.trim() !== "" && html`<p class="blocks-note">
      No network, data or training of the library is in this program. Code shows all of it.</p>`}
    ${store.active.value && hasChangedForLater() && html`<p class="blocks-note" role="status" data-testid="blocks-later">
      What trains is the program as it was started. Run starts this one; only the learning rate applies at once.</p>`}
    ${data.map((call, number) => html`<${call.kind === "load" ? BroughtCard : DataCard} key=${number} ...${{ call, number }} />`)}
    ${networks.map((network, number) => html`<${NetworkCards} key=${number} network=${network} number=${number}
      isOnly=${networks.length === 1} />`)}
    ${trainings.map((training, number) => html`<${TrainingCard} key=${number} ...${{ training, number }}
      isOnly=${trainings.length === 1} />`)}
    <p class="visually-hidden" role="status" data-testid="blocks-announcement">${announcement.value}</p>
  </div>`;
}

/** Whether the program was changed since it was started, by more than the learning rate. */
function hasChangedForLater() {
  const { exampleId, source } = store.executed.value;
  return exampleId === store.exampleId.value
    && changesInWords(source, store.source.value).some((change) => !RATE.test(change));
}

/** @param {{network: Network, number: number, isOnly: boolean}} props */
function NetworkCards({ network, number, isOnly }) {
  const { items, name } = network;
  const add = (/** @type {number} */ index) => (/** @type {string} */ kind, /** @type {string} */ given) =>
    commands.add({ network: number, index }, kind, given);
  const title = isOnly || !name ? "Layers" : `Layers of ${name}`;
  const counts = items.map(({ id }) => shapes.value.get(id)?.parameters ?? null);
  const total = counts.reduce((all, count) => (all === null || count === null ? null : all + count), 0);
  return html`<section class="block-network" aria-label=${title}>
    <h3>${title}<span class="block-total">${total === null ? "" : `${format.count(total)} parameters`}</span></h3>
    <ol>
      ${items.map((item, index) => [
        canAdd(network, index) && html`<li key=${`add-${index}`} class="block-between"><${AddBlock}
          label=${index === 0 ? "Add a layer at the beginning" : `Add a layer before ${item.call?.kind ?? "your code"}, ${index + 1}`}
          onChoose=${add(index)} /></li>`,
        html`<${BlockCard} key=${index} item=${item} position=${{ network: number, index }} count=${items.length} />`,
      ])}
    </ol>
    ${canAdd(network, items.length) && html`<${AddBlock} label="Add a layer at the end" text="Add a layer"
      onChoose=${add(items.length)} />`}
  </section>`;
}
