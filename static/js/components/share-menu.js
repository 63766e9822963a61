import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { HIDEABLE, hidden } from "../hidden.js";
import { hasLosses, makeLink } from "../sharing.js";
import * as store from "../store.js";
import { Menu } from "./menu.js";

/** Offers a link to the program on the page. */
export function ShareMenu() {
  return html`<${Menu} id="share" title="Share" icon="share" about="Make a link to this program" content=${Link} />`;
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
  }, [code, steps, off]);
  useEffect(() => field.current?.focus(), []);

  async function copy() {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(link);
      setOutcome("The link is copied.");
    } catch {
      setOutcome("The browser does not allow copying here. The link is selected: press Ctrl+C.");
    }
  }

  async function showCode() {
    if (Code) return setCode(null);
    try {
      const { QrCode } = await import("./qr-code.js");
      setCode(() => QrCode);
    } catch (failure) {
      setOutcome(`The QR code could not be loaded: ${/** @type {Error} */ (failure).message}. Copy the link instead.`);
    }
  }

  /** @param {string} name */
  const toggle = (name) => () => {
    setOff(off.includes(name) ? off.filter((each) => each !== name) : [...off, name]);
    setOutcome("");
  };

  return html`
    <p class="hint">The link contains the code and the settings. ${hasLosses.value
      ? "A few losses of the run are in it, so that whoever opens it can see whether theirs gives the same."
      : "It has no losses to compare yet: run the program as it is now to add them."} Nothing is sent to a server.</p>
    <div class="share-row">
      <input class="share-link" data-testid="share-link" ref=${field} readonly aria-label="Link to this program" value=${link}
        onFocus=${(/** @type {any} */ event) => event.target.select()} />
      <button type="button" class="button small" data-testid="share-copy" disabled=${!link} onClick=${copy}>Copy</button>
      <button type="button" class="button small" data-testid="share-qr" disabled=${!link} aria-expanded=${Code !== null}
        onClick=${showCode}>QR code</button>
    </div>
    ${Code && link && html`<${Code} link=${link} />`}
    <fieldset class="share-hidden">
      <legend>For a lesson, hide</legend>
      ${Object.entries(HIDEABLE).map(([name, title]) => html`<label key=${name} class="toggle"><input type="checkbox"
        data-testid=${`share-hide-${name}`} checked=${off.includes(name)} onChange=${toggle(name)} />${title}</label>`)}
    </fieldset>
    <p class="hint" role="status">${outcome}</p>
  `;
}
