import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { lazy } from "../components/lazy.js";
import { restoreExample, saveCode } from "../gallery/examples.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import { networkView, showNetworkView } from "../training/network-view.js";
import { onResize } from "../training/observe.js";
import { openDrawer } from "../own-data/drawer-state.js";
import { isEmbedded } from "../sharing/embedded.js";
import { hidden } from "../sharing/hidden.js";
import * as store from "../state/store.js";
import { CodeEditor } from "./code-editor.js";
import { refreshEditor } from "./editor-access.js";
import { SymbolRow } from "./symbol-row.js";

/** From this width, in CSS pixels, blocks and code stand side by side. */
const WIDE = 780;

const VIEWS = /** @type {const} */ (["blocks", "code"]);

/** Thirty modules, which nobody needs to write code and to run it. */
const Blocks = lazy(
  async () => (await import("../cards/blocks-panel.js")).BlocksPanel,
  () => ({ name: t().editor.blocks, waiting: t().editor.waiting }),
);

/** The program, as blocks and as code. */
export function EditorPanel() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [hasRoom, setWide] = useState(false);
  const hasBlocks = !hidden.value.has("blocks");
  const isWide = hasRoom && hasBlocks;
  const open = hasBlocks ? networkView.value : "code";
  const words = t().editor;

  useEffect(() => {
    const panel = place.current;
    return panel ? onResize(panel, () => setWide(panel.clientWidth >= WIDE)) : undefined;
  }, []);
  // A line that is to be shown is a line of the code, which is shown before it takes the focus.
  const revealed = store.revealedLine.value;
  useLayoutEffect(() => {
    if (revealed) showNetworkView("code");
  }, [revealed]);
  useEffect(() => refreshEditor(revealed !== null), [open, isWide]);

  return html`
    <section class="panel editor-panel" aria-label=${words.network} ref=${place} data-wide=${isWide ? "" : undefined}>
      <div class="panel-head">
        <h2>${words.network}</h2>
        ${!isWide && hasBlocks && html`<${NetworkTabs} />`}
        <${RestoreButton} hints=${words.hints.slice(0, isWide || open === "code" ? 2 : 1)} />
        ${
          !isEmbedded &&
          html`<button type="button" class="button quiet small" data-testid="data-open" aria-label=${words.yourData} title=${words.yourDataAbout}
          onClick=${() => openDrawer()}><${Icon} name="table" /><span>${words.yourData}</span></button>`
        }
        <button type="button" class="button quiet icon-only" data-testid="save-code" aria-label=${words.save}
          title=${words.save} onClick=${saveCode}><${Icon} name="save" /></button>
      </div>
      <div class="network-views">
        ${
          (isWide || open === "blocks") &&
          html`<div key="blocks" class="network-view" id="network-blocks"
          role=${isWide ? "group" : "tabpanel"} aria-label=${words.blocks}><${Blocks} /></div>`
        }
        <div key="code" class="network-view" id="network-code" role=${isWide ? "group" : "tabpanel"} aria-label=${words.code}
          hidden=${!isWide && open !== "code"}><${CodeEditor} />${isPhone.value && html`<${SymbolRow} />`}</div>
      </div>
    </section>
  `;
}

function NetworkTabs() {
  const open = networkView.value;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const to = { ArrowLeft: "blocks", ArrowRight: "code", Home: "blocks", End: "code" }[event.key];
    if (to !== "blocks" && to !== "code") return;
    event.preventDefault();
    showNetworkView(to);
    document.getElementById(`${to}-tab`)?.focus();
  }

  return html`<div class="network-tabs" role="tablist" aria-label=${t().editor.network} onKeyDown=${onKeyDown}>
    ${VIEWS.map(
      (name) => html`<button key=${name} type="button" role="tab" id=${`${name}-tab`}
      data-testid=${`${name}-tab`} aria-selected=${name === open} aria-controls=${name === open ? `network-${name}` : undefined}
      tabindex=${name === open ? 0 : -1} onClick=${() => showNetworkView(name)}>${t().editor[name]}</button>`,
    )}
  </div>`;
}

/** Offers to discard the user's changes, and asks for confirmation. @param {{hints: string[]}} props `hints`: while nothing is changed */
function RestoreButton({ hints }) {
  const [asking, setAsking] = useState(false);
  const edited = store.edited.value;
  if (!edited)
    return html`<span class="hint">${hints.map((each) => html`<span key=${each}>${each}</span>`)}</span>`;
  if (!asking) {
    return html`<button type="button" class="button quiet small" data-testid="reset-code"
      onClick=${() => setAsking(true)}>${t().editor.reset}</button>`;
  }
  const answer = (/** @type {boolean} */ yes) => () => {
    if (yes) restoreExample();
    setAsking(false);
  };
  return html`
    <span class="question" role="group" aria-label=${t().editor.discard}>
      <span>${t().editor.discard}</span>
      <button type="button" class="button small danger" data-testid="reset-code-confirm"
        onClick=${answer(true)}>${t().editor.discardNow}</button>
      <button type="button" class="button small" ref=${focusOnce} onClick=${answer(false)}>${t().editor.keep}</button>
    </span>
  `;
}

/** @param {HTMLElement | null} element */
const focusOnce = (element) => {
  element?.focus();
};
