import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { OPTIMIZERS } from "../blocks/catalogue.js";
import { canAdd } from "../blocks/structure.js";
import { changesInWords } from "../editor/code-diff.js";
import { t } from "../words/locale.js";
import { onResize } from "../training/observe.js";
import { refusals } from "../sharing/locks.js";
import * as store from "../state/store.js";
import { BlockCard } from "./block-card.js";
import * as commands from "./block-commands.js";
import { linkedBlock } from "./block-links.js";
import { AddBlock } from "./block-menu.js";
import {
  announcement,
  endedCard,
  focusedBlock,
  program,
  shapes,
  undoChange,
} from "./blocks-model.js";
import { BroughtCard } from "./brought-card.js";
import { DataCard } from "./data-card.js";
import { TermTip } from "./terms.js";
import { TrainingCard } from "./training-card.js";

/** A change of the learning rate in words: by its name, or as the optimizer's only number. */
const RATE = new RegExp(`^(learning_rate|${OPTIMIZERS.join("|")}) \\S+ → \\S+$`);

/** How long after a run has ended the page may still arrange itself. */
const SETTLED_MS = 1000;
/** Around a card that is brought into view, in pixels. */
const GAP = 12;

/** @import { Network } from "../blocks/types.js" */

/** The program as cards: data, layers, training. */
export function BlocksPanel() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const { data, networks, trainings, broken } = program.value;
  const focused = focusedBlock.value;
  void refusals.value; // fields show the program's values again

  useLayoutEffect(() => {
    if (!focused) return;
    focusedBlock.value = null;
    const { network, index } = focused;
    const card = place.current?.querySelector(`[data-position="${network}-${index}"]`);
    /** @type {HTMLElement | null | undefined} */
    const target =
      card?.querySelector(".block-grip") ?? place.current?.querySelector("[data-testid=add-block]");
    target?.focus();
  }, [focused]);

  const linked = linkedBlock.value && `${linkedBlock.value.network}-${linkedBlock.value.index}`;
  useEffect(() => {
    const card = linked && place.current?.querySelector(`[data-position="${linked}"]`);
    if (card) bringIntoView(card, /** @type {HTMLElement} */ (place.current));
  }, [linked]);

  const ended = endedCard.value;
  useEffect(() => {
    const card = ended && place.current?.querySelector(`[data-card="${ended}"]`);
    const panel = place.current;
    if (!card || !panel) return undefined;
    // The error below the panel takes some of its room.
    const stop = onResize(panel, () => bringIntoView(card, panel));
    const timer = setTimeout(stop, SETTLED_MS);
    bringIntoView(card, panel);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [ended]);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const isUndo =
      (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z";
    const isText =
      event.target instanceof HTMLInputElement && event.target.defaultValue !== event.target.value;
    if (!isUndo || isText) return;
    event.preventDefault();
    undoChange(event.shiftKey);
  }

  const words = t().blocks;
  const isEmpty = data.length + networks.length + trainings.length === 0;
  return html`<div class="blocks" ref=${place} onKeyDown=${onKeyDown} data-testid="blocks">
    ${broken && html`<p class="blocks-note" data-testid="blocks-broken">${words.broken}</p>`}
    ${isEmpty && store.source.value.trim() !== "" && html`<p class="blocks-note">${words.empty}</p>`}
    ${store.active.value && hasChangedForLater() && html`<p class="blocks-note" role="status" data-testid="blocks-later">${words.later}</p>`}
    ${data.map((call, number) => html`<${call.kind === "load" ? BroughtCard : DataCard} key=${number} ...${{ call, number }} />`)}
    ${networks.map(
      (network, number) => html`<${NetworkCards} key=${number} network=${network} number=${number}
      isOnly=${networks.length === 1} />`,
    )}
    ${trainings.map(
      (training, number) => html`<${TrainingCard} key=${number} ...${{ training, number }}
      isOnly=${trainings.length === 1} />`,
    )}
    <${TermTip} />
    <p class="visually-hidden" role="status" data-testid="blocks-announcement">${announcement.value}</p>
  </div>`;
}

/** Scroll `panel` until `card` is inside, and nothing around it. @param {Element} card @param {HTMLElement} panel */
function bringIntoView(card, panel) {
  const inner = card.getBoundingClientRect();
  const outer = panel.getBoundingClientRect();
  if (inner.top < outer.top + GAP) panel.scrollTop -= outer.top + GAP - inner.top;
  else if (inner.bottom > outer.bottom - GAP) panel.scrollTop += inner.bottom - outer.bottom + GAP;
}

/** Whether the program was changed since it was started, by more than the learning rate. */
function hasChangedForLater() {
  const { exampleId, source } = store.executed.value;
  return (
    exampleId === store.exampleId.value &&
    changesInWords(source, store.source.value).some((change) => !RATE.test(change))
  );
}

/** @param {{network: Network, number: number, isOnly: boolean}} props */
function NetworkCards({ network, number, isOnly }) {
  const { items, name } = network;
  const add =
    (/** @type {number} */ index) => (/** @type {string} */ kind, /** @type {string} */ given) =>
      commands.add({ network: number, index }, kind, given);
  const words = t().blocks.network;
  const title = isOnly || !name ? words.layers : words.layersOf(name);
  const counts = items.map(({ id }) => shapes.value.get(id)?.parameters ?? null);
  const total = counts.reduce(
    (all, count) => (all === null || count === null ? null : all + count),
    0,
  );
  return html`<section class="block-network" aria-label=${title}>
    <h3>${title}<span class="block-total">${total === null ? "" : words.total(total)}</span></h3>
    <ol>
      ${items.map((item, index) => [
        canAdd(network, index) &&
          html`<li key=${`add-${index}`} class="block-between"><${AddBlock}
          label=${index === 0 ? words.addFirst : words.addBefore(item.call?.kind ?? t().blocks.yourCodeInside, index + 1)}
          onChoose=${add(index)} /></li>`,
        html`<${BlockCard} key=${index} item=${item} position=${{ network: number, index }} count=${items.length} />`,
      ])}
    </ol>
    ${
      canAdd(network, items.length) &&
      html`<${AddBlock} label=${words.addLast} text=${words.add}
      onChoose=${add(items.length)} />`
    }
  </section>`;
}
