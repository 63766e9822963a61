import { html, signal, useEffect } from "../../../vendor/preact.js";
import { findings } from "../../training/doctor.js";
import { t } from "../../words/locale.js";

/** @typedef {{Panel: () => any, announce: (all: import("../../../engine/messages.js").Finding[]) => string}} Parts */
/** The panel and its words, once they have been loaded. */
const parts = signal(/** @type {Parts | null} */ (null));

async function load() {
  try {
    const [{ DoctorPanel }, { sentenceOf }] = await Promise.all([
      import("./doctor-panel.js"),
      import("./doctor-words.js"),
    ]);
    parts.value = {
      Panel: DoctorPanel,
      announce: ([first, ...more]) =>
        first ? t().doctor.announced(sentenceOf(first), more.length) : "",
    };
  } catch {
    // The page works without it, and with the next finding it is tried again.
  }
}

/** The doctor, loaded with the first finding, and announced to who cannot see it. */
export function LazyDoctor() {
  const isWanted = findings.value.length > 0;
  useEffect(() => {
    if (isWanted && !parts.value) load();
  }, [isWanted]);
  const loaded = parts.value;
  return html`
    <p class="visually-hidden" role="status" data-testid="doctor-announcement">${loaded?.announce(findings.value)}</p>
    ${loaded && html`<${loaded.Panel} />`}
  `;
}
