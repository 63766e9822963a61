import { html } from "../../vendor/preact.js";
import * as format from "../format.js";
import { findEarlierWork, isGuarded, openEarlierWork, removeEarlierWork } from "../session.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";

/** @import { SessionSummary } from "../types.js" */

/** A menu of earlier sessions. Opening one replaces the session of this tab, which joins the menu. */
export function EarlierWork() {
  return html`<${Menu} id="earlier-work" title="Earlier work" icon="history" content=${List} onOpen=${findEarlierWork}
    about="Open code and weights of earlier visits" />`;
}

function List() {
  const sessions = store.earlierWork.value;
  const isBusy = store.active.value;
  return html`
      ${isBusy && html`<p class="hint">Stop the run to open earlier work.</p>`}
      ${sessions.length === 0
        ? html`<p class="hint">Nothing yet. Your code, curves and weights are saved in this browser by themselves; the
            last ten visits are kept here.</p>`
        : html`<ul>${sessions.map((each) => html`<${Entry} key=${each.id} session=${each} isBusy=${isBusy} />`)}</ul>`}
      ${!isGuarded() && html`<p class="hint">This browser has no Web Locks, so each reload continues a copy, and the
        original stays here.</p>`}
  `;
}

/** @param {{session: SessionSummary, isBusy: boolean}} props */
function Entry({ session, isBusy }) {
  const { id, title, edited, saved, step, totalSteps } = session;
  const progress = totalSteps > 0
    ? `step ${format.count(step)} of ${format.count(totalSteps)}`
    : "not trained";
  const when = format.moment(new Date(saved));
  return html`
    <li class="earlier-entry">
      <button type="button" class="earlier-open" data-testid="earlier-open" disabled=${isBusy}
        onClick=${() => openEarlierWork(id)}>
        <strong>${title}${edited ? ", edited" : ""}</strong>
        <span class="hint">${when}, ${progress}</span>
      </button>
      <button type="button" class="button quiet icon-only" aria-label=${`Remove ${title} of ${when}`}
        title="Remove" data-testid="earlier-remove" onClick=${() => removeEarlierWork(id)}><${Icon} name="close" /></button>
    </li>
  `;
}
