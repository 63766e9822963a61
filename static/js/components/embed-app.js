import { html, useEffect, useState } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { EditorPanel } from "../editor/editor-panel.js";
import { t } from "../words/locale.js";
import { ErrorPanel } from "../output/error-panel.js";
import { panels } from "../panels/panels.js";
import { LossCurve } from "../panels/watch/curves-panel.js";
import { TaskPanel } from "../panels/watch/task-panel.js";
import { locksHere } from "../sharing/locks.js";
import { makeLink } from "../sharing/sharing.js";
import * as store from "../state/store.js";
import { Workspace } from "./app.js";
import { Headline, ProgressBar } from "./progress.js";
import { StatusLine } from "./status-line.js";
import { MainButton } from "./transport.js";

/**
 * The page in a frame of another site.
 * @param {{mode: "live" | "still" | "empty", problem: string}} props
 *   `still`: the frame has no shared memory, so Python cannot run in it; `problem`: why there is no program
 */
export function EmbedApp({ mode, problem }) {
  if (mode === "empty") {
    return html`<main class="embed-empty" data-testid="embed-empty">
      <p role="alert">${problem}</p>
      <a class="button" href="/" target="_blank" rel="noopener">${t().embed.openPlaygrad}</a>
    </main>`;
  }
  return html`<${Program} isLive=${mode === "live"} />`;
}

/** @param {{isLive: boolean}} props */
function Program({ isLive }) {
  const link = useLink();
  const [isOpen, setOpen] = useState(store.view.value !== panels()[0].name); // another panel was shared
  useEffect(() => {
    if (store.revealedLine.value) setOpen(true);
  }, [store.revealedLine.value]);
  function toggle() {
    setOpen(!isOpen);
    store.side.value = "build"; // on a small frame
  }
  return html`
    <header class="header embed-header">
      <h1 class="brand"><img src=${urlOf("/static/favicon.svg")} alt="" width="20" height="20" /><span>${store.example.value?.title}</span></h1>
      ${
        isLive &&
        html`<span class="embed-links">
        <button type="button" class="button small" data-testid="embed-program" aria-expanded=${isOpen} onClick=${toggle}>${isOpen ? t().embed.noProgram : t().embed.program}</button>
        <a class="link" data-testid="embed-open" href=${link} target="_blank" rel="noopener">${t().embed.open}</a>
      </span>`
      }
    </header>
    ${isLive ? (isOpen ? html`<${Workspace} />` : html`<${Glance} />`) : html`<${Still} link=${link} />`}
  `;
}

/** The main picture, Run and one curve, until the visitor wants to see more. */
const Glance = () => html`
  <main class="glance">
    <${TaskPanel} isFixed />
    <${ErrorPanel} />
    <section class="panel glance-foot" aria-label=${t().commands.section}>
      <div class="glance-run"><${MainButton} /><dl class="statistics"><${Headline} /></dl><${StatusLine} /></div>
      <${LossCurve} />
      <${ProgressBar} />
    </section>
  </main>
`;

/** The program without Python: it can be read, and changed for the tab that opens it. @param {{link: string}} props */
function Still({ link }) {
  const { notice, noticeAction } = store;
  return html`
    <section class="embed-still" data-testid="embed-still" aria-label=${t().embed.still}>
      <p>${t().embed.noMemory}</p>
      <a class="button primary" data-testid="embed-open" href=${link} target="_blank" rel="noopener">${t().embed.open}</a>
      ${
        notice.value &&
        html`<p class="embed-notice" role="status">${notice.value} ${
          noticeAction.value &&
          html`<button type="button" class="link" onClick=${noticeAction.value.act}>${noticeAction.value.label}</button>`
        }</p>`
      }
    </section>
    <main class="workspace" data-side="build"><div class="column write"><${EditorPanel} /></div></main>
  `;
}

/** The address that opens the program as it is now. */
function useLink() {
  const [link, setLink] = useState(urlOf("/") + location.hash);
  const { value: shared } = store.shared;
  const code = store.source.value;
  const locks = locksHere.value;
  const isUnchanged =
    code === shared?.code && JSON.stringify(locks.lines) === JSON.stringify(shared.locked ?? []);
  useEffect(() => {
    let isWanted = true;
    if (isUnchanged) setLink(urlOf("/") + location.hash);
    else
      makeLink(shared?.hidden ?? []).then(
        (made) => isWanted && setLink(made),
        () => {},
      ); // too long: that of before
    return () => (isWanted = false);
  }, [code, locks, isUnchanged]);
  return link;
}
