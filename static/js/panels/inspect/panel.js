import { html } from "../../../vendor/preact.js";
import { openView } from "../../training/inspected-layer.js";
import { t } from "../../words/locale.js";
import { register } from "../panels.js";
import * as store from "../../state/store.js";
import { INSPECT_VIEWS, PICTURES } from "./inspect-views.js";

/** Looks inside the trained network: one view at a time. */
function InspectPanel() {
  const words = t().inspect;
  const { View, name, isThere } =
    INSPECT_VIEWS.find((each) => each.name === openView.value) ?? INSPECT_VIEWS[0];
  return html`
    <section class="panel inspect" aria-labelledby="inspect-title" data-testid="inspect">
      <div class="panel-head">
        <h2 id="inspect-title">${words.title}</h2>
        <div class="segments" role="group" aria-label=${words.views}>
          ${INSPECT_VIEWS.map(
            (each) => html`<button key=${each.name} type="button" class="button quiet small"
            data-testid=${`inspect-${each.name}`} aria-pressed=${each.name === name}
            onClick=${() => (openView.value = each.name)}>${each.title()}</button>`,
          )}
        </div>
      </div>
      ${store.canInspect.value || isThere?.() ? html`<${View} key=${name} />` : html`<div class="inspect-body"><p class="hint">${words.empty}</p></div>`}
    </section>
  `;
}

register({
  name: "inspect",
  order: 20,
  title: () => t().panels.inspect,
  Panel: InspectPanel,
  inBar: true,
  pictures: PICTURES,
  outline:
    "M6.8 1.6a5.2 5.2 0 0 1 4.1 8.4l3.7 3.6-1.1 1.1-3.6-3.7A5.2 5.2 0 1 1 6.8 1.6zm0 1.5a3.7 3.7 0 1 0 0 7.4 3.7 3.7 0 0 0 0-7.4z",
});
