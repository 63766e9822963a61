import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { findEarlierWork, isGuarded, openEarlierWork, removeEarlierWork } from "../session.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/** @import { SessionSummary } from "../types.js" */

/** A menu of earlier sessions. Opening one replaces the session of this tab, which joins the menu. */
export function EarlierWork() {
  const [isOpen, setOpen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const button = useRef(/** @type {HTMLElement | null} */ (null));

  useEffect(() => {
    if (!isOpen) return undefined;
    findEarlierWork();
    const listeners = new AbortController();
    const { signal } = listeners;
    document.addEventListener("pointerdown", ({ target }) => {
      if (!place.current?.contains(/** @type {Node} */ (target))) setOpen(false);
    }, { signal });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    }, { signal });
    return () => listeners.abort();
  }, [isOpen]);

  return html`
    <div class="earlier" ref=${place}>
      <button type="button" class="button quiet earlier-button" data-testid="earlier-work" aria-expanded=${isOpen} ref=${button}
        aria-controls="earlier-list" title="Open code and weights of earlier visits" onClick=${() => setOpen(!isOpen)}>
        <${Icon} name="history" /><span>Earlier work</span>
      </button>
      ${isOpen && html`<${List} />`}
    </div>
  `;
}

function List() {
  const sessions = store.earlierWork.value;
  const isBusy = store.active.value;
  return html`
    <div class="earlier-list" id="earlier-list" role="group" aria-label="Earlier work">
      ${isBusy && html`<p class="hint">Stop the run to open earlier work.</p>`}
      ${sessions.length === 0
        ? html`<p class="hint">Nothing yet. Your code, curves and weights are saved in this browser by themselves; the
            last ten visits are kept here.</p>`
        : html`<ul>${sessions.map((each) => html`<${Entry} key=${each.id} session=${each} isBusy=${isBusy} />`)}</ul>`}
      ${!isGuarded() && html`<p class="hint">This browser has no Web Locks, so each reload continues a copy, and the
        original stays here.</p>`}
    </div>
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
