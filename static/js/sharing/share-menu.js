import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Menu } from "../components/menu.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { hidden, hideable } from "./hidden.js";
import { CopySnippet } from "./share-embed.js";
import { LockedLines } from "./share-locks.js";
import { hasLosses, makeLink } from "./sharing.js";

/** Offers a link to the program on the page. */
export function ShareMenu() {
  return html`<${Menu} id="share" title=${t().share.title} icon="share" about=${t().share.about} content=${Link} />`;
}

function Link() {
  const [link, setLink] = useState("");
  const [outcome, setOutcome] = useState("");
  const [Code, setCode] = useState(/** @type {((props: {link: string}) => any) | null} */ (null));
  const [off, setOff] = useState(/** @type {string[]} */ ([...hidden.value]));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const code = store.source.value;
  const steps = store.landmarks.value.length;
  useEffect(() => {
    let isWanted = true;
    setLink("");
    makeLink(off).then(
      (made) => isWanted && setLink(made),
      (failure) => isWanted && setOutcome(/** @type {Error} */ (failure).message),
    );
    return () => (isWanted = false);
  }, [code, steps, off, store.locks.value]);
  useEffect(() => field.current?.focus(), []);

  async function copy() {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(link);
      setOutcome(t().share.copied);
    } catch {
      setOutcome(t().share.copyByHand);
    }
  }

  async function showCode() {
    if (Code) return setCode(null);
    try {
      const { QrCode } = await import("./qr-code.js");
      setCode(() => QrCode);
    } catch (failure) {
      setOutcome(t().share.noQrCode(/** @type {Error} */ (failure).message));
    }
  }

  /** @param {string} name */
  const toggle = (name) => () => {
    setOff(off.includes(name) ? off.filter((each) => each !== name) : [...off, name]);
    setOutcome("");
  };

  return html`
    <p class="hint">${t().numbers.sentences([t().share.contains, hasLosses.value ? t().share.hasLosses : t().share.hasNoLosses, t().share.isPrivate])}</p>
    <div class="share-row">
      <input class="share-link" data-testid="share-link" ref=${field} readonly aria-label=${t().share.link} value=${link}
        onFocus=${(/** @type {any} */ event) => event.target.select()} />
      <button type="button" class="button small" data-testid="share-copy" disabled=${!link} onClick=${copy}>${t().share.copy}</button>
      <button type="button" class="button small" data-testid="share-qr" disabled=${!link} aria-expanded=${Code !== null}
        onClick=${showCode}>${t().share.qrCode}</button>
    </div>
    ${Code && link && html`<${Code} link=${link} />`}
    <fieldset class="share-hidden">
      <legend>${t().share.hide}</legend>
      ${hideable().map(
        ({ name, title }) => html`<label key=${name} class="toggle"><input type="checkbox"
        data-testid=${`share-hide-${name}`} checked=${off.includes(name)} onChange=${toggle(name)} />${title}</label>`,
      )}
    </fieldset>
    <${LockedLines} />
    <${CopySnippet} hidden=${off} disabled=${!link} say=${setOutcome} />
    <p class="hint" role="status">${outcome}</p>
  `;
}
