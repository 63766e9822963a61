import { html } from "../../vendor/preact.js";
import { isPhone, isWide } from "../frame/layout.js";
import { t } from "../words/locale.js";
import { panels } from "../panels/panels.js";
import { hidden } from "../sharing/hidden.js";
import * as store from "../state/store.js";

/** The panels that have tabs now. */
export const tabs = () =>
  panels().filter(
    ({ name, besideOthers }) => !(besideOthers && isWide.value) && !hidden.value.has(name),
  );

/** The panel of the open tab. */
export const openPanel = () => tabs().find(({ name }) => name === store.view.value) ?? tabs()[0];

/** The tabs of the panels. */
export function ViewTabs() {
  const shown = tabs();
  const open = openPanel().name;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const here = shown.findIndex(({ name }) => name === open);
    const last = shown.length - 1;
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: here === 0 ? last : here - 1,
      ArrowRight: here === last ? 0 : here + 1,
      Home: 0,
      End: last,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    store.view.value = shown[to].name;
    document.getElementById(`tab-${shown[to].name}`)?.focus();
  }

  return html`
    <div class="view-tabs" role="tablist" aria-label=${t().panels.label} onKeyDown=${onKeyDown}>
      ${shown.map(
        ({ name, title }) => html`
        <button key=${name} type="button" role="tab" class="view-tab" id=${`tab-${name}`}
          data-testid=${`tab-${name}`} aria-selected=${name === open} aria-controls=${name === open ? `view-${name}` : undefined}
          tabindex=${name === open ? 0 : -1} onClick=${() => (store.view.value = name)}>${title()}</button>
      `,
      )}
    </div>
  `;
}

/** The content of a tab. @param {{name: string, children?: any}} props */
export function View({ name, children }) {
  const label = isPhone.value
    ? { "aria-label": openPanel().title() }
    : { "aria-labelledby": `tab-${name}` };
  return html`<div class="view" role="tabpanel" id=${`view-${name}`} data-view=${name} ...${label}>
    ${children}
  </div>`;
}
