import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { nameOf } from "./versions.js";

/** Says above the main picture that a smaller version of the network answers, and leads back. */
export function ShrunkBadge() {
  const point = store.shrunk.value;
  if (!point || store.past.value) return null;
  const words = t().shrink;
  const back = async () => (await import("./shrink.js")).leave();
  return html`<div class="shrunk-badge" role="status" data-testid="shrunk-badge">
    <p>${words.badge(nameOf(point.name), format.bytes(point.gzip))}</p>
    <button type="button" class="link" onClick=${() => (store.view.value = "shrink")}>${words.toReport}</button>
    <button type="button" class="button small" data-testid="shrunk-back" onClick=${back}>${words.back}</button>
  </div>`;
}
