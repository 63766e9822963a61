import { html } from "../../../vendor/preact.js";
import { selectExample } from "../../gallery/examples.js";
import { openExamples } from "../../gallery/opening.js";
import { roughly } from "../../gallery/time.js";
import { t } from "../../words/locale.js";
import { showNetworkView } from "../../training/network-view.js";
import { openDrawer } from "../../own-data/drawer-state.js";
import * as store from "../../state/store.js";
import { GalleryPicture } from "./gallery-pictures.js";

/** @typedef {import("./gallery-pictures.js").PictureName} PictureName */

/** The ways to begin with data of the visitor, and the form it comes in. @type {{picture: PictureName, start: import("../../own-data/drawer-state.js").Start, form: () => string}[]} */
const YOURS = [
  { picture: "table", start: "table", form: () => "CSV" },
  { picture: "photos", start: "images", form: () => "ZIP" },
  { picture: "points", start: "points", form: () => t().gallery.byHand },
];

/** The example to write on. */
const WRITTEN = "first-program";

/**
 * The ways to begin.
 * @type {{picture: PictureName, exampleId: string, inLab?: boolean, focus?: string}[]}
 *   `focus`: selects the element to begin with, in place of Run
 */
const CARDS = [
  { picture: "digit", exampleId: "mnist-mlp", focus: "[data-testid=digit-canvas]" },
  { picture: "spiral", exampleId: "spiral" },
  { picture: "text", exampleId: "character-gru" },
  { picture: "game", exampleId: "tic-tac-toe" },
  { picture: "devices", exampleId: "sync-against-async", inLab: true },
  { picture: "code", exampleId: WRITTEN, focus: "[data-testid=editor] .cm-content" },
];

/**
 * Whether the page is as a new visitor finds it: nothing was chosen, edited or trained. A link begins with its own
 * program.
 */
export function isChoosing() {
  const [first] = store.examples.value;
  return (
    first &&
    !store.hasChosen.value &&
    !store.shared.value &&
    !store.fit.value &&
    store.runState.value === "idle" &&
    store.exampleId.value === first.id &&
    store.source.value === first.source
  );
}

/** Cards that open examples. */
export function Gallery() {
  const known = new Map(store.examples.value.map((example) => [example.id, example]));
  return html`
    <section class="panel gallery" aria-labelledby="gallery-title" data-testid="gallery">
      <div class="panel-head"><h2 id="gallery-title">${t().gallery.title}</h2><span class="hint">${t().gallery.then}</span>
        <button type="button" class="link gallery-all" data-testid="gallery-all" aria-haspopup="dialog" onClick=${openExamples}>${t().gallery.all.title}</button></div>
      <ul class="gallery-cards">
        ${CARDS.filter(({ exampleId }) => known.has(exampleId)).map((card) => html`<${Card} key=${card.picture} card=${card} seconds=${known.get(card.exampleId)?.seconds} />`)}
        ${YOURS.map((card) => html`<${YourCard} key=${card.picture} card=${card} />`)}
      </ul>
    </section>
  `;
}

/** @param {{card: typeof CARDS[number], seconds?: number}} props */
function Card({ card: { picture, exampleId, inLab, focus }, seconds }) {
  function open() {
    selectExample(exampleId);
    if (inLab) store.view.value = "lab";
    // A visitor who clicks begins with blocks.
    showNetworkView(exampleId === WRITTEN ? "code" : "blocks");
    if (exampleId === WRITTEN) store.side.value = "build"; // on a phone
    setTimeout(() => begin(focus)); // once it is shown
  }
  return html`
    <li>
      <button type="button" class="gallery-card" data-testid="gallery-card" data-example=${exampleId}
        aria-current=${store.exampleId.value === exampleId ? "true" : undefined} onClick=${open}>
        <${Content} picture=${picture} effort=${seconds === undefined ? "" : roughly(seconds)} />
      </button>
    </li>
  `;
}

/** @param {{card: typeof YOURS[number]}} props */
function YourCard({ card: { picture, start, form } }) {
  return html`
    <li>
      <button type="button" class="gallery-card" data-testid="gallery-your-card" data-start=${start} onClick=${() => openDrawer(start)}>
        <${Content} picture=${picture} effort=${form()} />
      </button>
    </li>
  `;
}

/** The content of a card. @param {{picture: PictureName, effort: string}} props `effort`: the time that it takes, or the form of the data */
function Content({ picture, effort }) {
  const { title, about } = t().gallery.cards[picture];
  return html`
    <${GalleryPicture} name=${picture} />
    <span class="gallery-title"><strong>${title}</strong><span class="hint">${effort}</span></span>
    <span class="hint">${about}</span>
  `;
}

/** @param {string} [selector] of the element to begin with */
function begin(selector = ".main-command") {
  const element = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  element?.scrollIntoView({ block: "center" });
  element?.focus({ preventScroll: true });
}
