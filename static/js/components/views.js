import { html } from "../../vendor/preact.js";
import * as store from "../store.js";

/** @type {{name: "training" | "lab", title: string}[]} */
const VIEWS = [
  { name: "training", title: "Training" },
  { name: "lab", title: "Lab" },
];

/** The tabs: training, and the Lab with its several devices. */
export function ViewTabs() {
  const open = store.view.value;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const here = VIEWS.findIndex(({ name }) => name === open);
    const last = VIEWS.length - 1;
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: here === 0 ? last : here - 1, ArrowRight: here === last ? 0 : here + 1,
      Home: 0, End: last,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    store.view.value = VIEWS[to].name;
    document.getElementById(`tab-${VIEWS[to].name}`)?.focus();
  }

  return html`
    <div class="view-tabs" role="tablist" aria-label="Views" onKeyDown=${onKeyDown}>
      ${VIEWS.map(({ name, title }) => html`
        <button key=${name} type="button" role="tab" class="view-tab" id=${`tab-${name}`}
          data-testid=${`tab-${name}`} aria-selected=${name === open} aria-controls=${name === open ? `view-${name}` : undefined}
          tabindex=${name === open ? 0 : -1} onClick=${() => (store.view.value = name)}>${title}</button>
      `)}
    </div>
  `;
}

/** The content of a tab. @param {{name: string, children?: any}} props */
export function View({ name, children }) {
  return html`<div class="view" role="tabpanel" id=${`view-${name}`} aria-labelledby=${`tab-${name}`}>
    ${children}
  </div>`;
}
