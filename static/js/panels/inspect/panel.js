import { html, signal } from "../../../vendor/preact.js";
import { INSPECT_VIEWS } from "./inspect-views.js";
import { t } from "../../locale.js";
import * as store from "../../store.js";

/** The view that is open, which outlives the panel. */
const open = signal(INSPECT_VIEWS[0].name);

/** Looks inside the trained network: one view at a time. */
export function InspectPanel() {
  const words = t().inspect;
  const { View, name } = INSPECT_VIEWS.find((each) => each.name === open.value) ?? INSPECT_VIEWS[0];
  return html`
    <section class="panel inspect" aria-labelledby="inspect-title" data-testid="inspect">
      <div class="panel-head">
        <h2 id="inspect-title">${words.title}</h2>
        <div class="segments" role="group" aria-label=${words.views}>
          ${INSPECT_VIEWS.map((each) => html`<button key=${each.name} type="button" class="button quiet small"
            data-testid=${`inspect-${each.name}`} aria-pressed=${each.name === name}
            onClick=${() => (open.value = each.name)}>${each.title()}</button>`)}
        </div>
      </div>
      ${store.liveModel.value ? html`<${View} key=${name} />` : html`<div class="inspect-body"><p class="hint">${words.empty}</p></div>`}
    </section>
  `;
}
