import { html } from "../../vendor/preact.js";
import { hidden } from "../hidden.js";
import { t } from "../locale.js";
import { PANELS } from "../panels.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { MainButton } from "./transport.js";
import { openPanel } from "./views.js";

/** The bar below the page of a phone: the network, the panels, and Run between them. */
export function PhoneBar() {
  const items = [
    { name: "build", title: t().panels.build, icon: "code", isOpen: store.side.value === "build", open: () => (store.side.value = "build") },
    ...PANELS.filter(({ name }) => !hidden.value.has(name)).map(({ name, icon }) => ({
      name, icon, title: t().panels[name],
      isOpen: store.side.value === "panels" && openPanel().name === name,
      open: () => {
        store.side.value = "panels";
        store.view.value = name;
      },
    })),
  ];
  const half = Math.ceil(items.length / 2);
  const button = (/** @type {typeof items[number]} */ { name, title, icon, isOpen, open }) => html`
    <button key=${name} type="button" class="phone-tab" data-testid=${`tab-${name}`}
      aria-current=${isOpen ? "page" : undefined} onClick=${open}><${Icon} name=${icon} />${title}</button>
  `;
  return html`
    <nav class="phone-bar" aria-label=${t().panels.parts}>
      ${items.slice(0, half).map(button)}
      <${MainButton} />
      ${items.slice(half).map(button)}
    </nav>
  `;
}
