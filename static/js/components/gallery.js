import { html } from "../../vendor/preact.js";
import { openDrawer } from "../data-drawer.js";
import { selectExample } from "../examples.js";
import { showNetworkView } from "../network-view.js";
import * as store from "../store.js";
import { GalleryPicture } from "./gallery-pictures.js";

/** @typedef {import("./gallery-pictures.js").PictureName} PictureName */

/** The ways to begin with data of the visitor. @type {{picture: PictureName, start: import("../data-drawer.js").Start, title: string, about: string, time: string}[]} */
const YOURS = [
  { picture: "table", start: "table", title: "Your table", time: "CSV",
    about: "Bring a table, choose the column to predict, and train on it. It stays in this browser." },
  { picture: "photos", start: "images", title: "Your photos", time: "ZIP",
    about: "Images in a folder for each class, or from the camera: teach a network to tell them apart." },
  { picture: "points", start: "points", title: "Your points", time: "by hand",
    about: "Draw points of two classes, and watch where a network draws the line." },
];

/** The example to write on. */
const WRITTEN = "first-program";

/**
 * The ways to begin. Times are those of a laptop without a graphics card.
 * @type {{picture: PictureName, exampleId: string, title: string, about: string, time: string, inLab?: boolean, focus?: string}[]}
 *   `focus`: selects the element to begin with
 */
const CARDS = [
  { picture: "digit", exampleId: "mnist-mlp", title: "Draw a digit", time: "15 s",
    about: "Draw, and a network reads it at once. Then train your own, on 60,000 digits.",
    focus: "[data-testid=digit-canvas]" },
  { picture: "spiral", exampleId: "spiral", title: "Separate the spiral", time: "5 s",
    about: "Two layers bend a line until it follows two classes of points." },
  { picture: "text", exampleId: "character-gru", title: "Write text", time: "20 s",
    about: "A network reads a rhyme letter by letter, and goes on by itself." },
  { picture: "game", exampleId: "tic-tac-toe", title: "Play against itself", time: "20 s",
    about: "A player of tic-tac-toe learns from nothing but its own games." },
  { picture: "devices", exampleId: "sync-against-async", title: "Many devices", time: "20 s", inLab: true,
    about: "Two devices train one network, and one of them is slow. Who waits?" },
  { picture: "code", exampleId: WRITTEN, title: "Write code", time: "1 s",
    about: "Twenty lines of Python, with help as you type. Make of them what you like.",
    focus: "[data-testid=editor] .cm-content" },
];

/** Cards that open examples, until something was trained. */
export function Gallery() {
  const known = new Set(store.examples.value.map(({ id }) => id));
  if (store.fit.value || store.runState.value !== "idle" || known.size === 0) return null;
  return html`
    <section class="panel gallery" aria-labelledby="gallery-title" data-testid="gallery">
      <div class="panel-head"><h2 id="gallery-title">Begin with</h2></div>
      <ul class="gallery-cards">
        ${CARDS.filter(({ exampleId }) => known.has(exampleId)).map((card) => html`<${Card} key=${card.picture} card=${card} />`)}
        ${YOURS.map((card) => html`<${YourCard} key=${card.picture} card=${card} />`)}
      </ul>
    </section>
  `;
}

/** @param {{card: typeof CARDS[number]}} props */
function Card({ card: { picture, exampleId, title, about, time, inLab, focus } }) {
  function open() {
    selectExample(exampleId);
    if (inLab) store.view.value = "lab";
    if (exampleId === WRITTEN) {
      showNetworkView("code");
      store.side.value = "build"; // on a phone
    }
    if (focus) setTimeout(() => begin(focus)); // once it is shown
  }
  return html`
    <li>
      <button type="button" class="gallery-card" data-testid="gallery-card" data-example=${exampleId}
        aria-current=${store.exampleId.value === exampleId ? "true" : undefined} onClick=${open}>
        <${GalleryPicture} name=${picture} />
        <span class="gallery-title"><strong>${title}</strong><span class="hint">${time}</span></span>
        <span class="hint">${about}</span>
      </button>
    </li>
  `;
}

/** @param {{card: typeof YOURS[number]}} props */
function YourCard({ card: { picture, start, title, about, time } }) {
  return html`
    <li>
      <button type="button" class="gallery-card" data-testid="gallery-your-card" data-start=${start} onClick=${() => openDrawer(start)}>
        <${GalleryPicture} name=${picture} />
        <span class="gallery-title"><strong>${title}</strong><span class="hint">${time}</span></span>
        <span class="hint">${about}</span>
      </button>
    </li>
  `;
}

/** @param {string} selector of the element to begin with */
function begin(selector) {
  const element = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  element?.scrollIntoView({ block: "center" });
  element?.focus({ preventScroll: true });
}
