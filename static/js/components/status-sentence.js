import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import { onResize } from "../training/observe.js";
import { Icon } from "./icons.js";

/**
 * The sentence beside the status. The bar has room for two lines of it, except on a phone, where it grows; a button
 * shows a longer one below the bar, over the page. A screen reader gets the whole sentence in either case.
 * @param {{text: string, isPlain: boolean}} props `isPlain`: whether it says little more than the status
 */
export function StatusSentence({ text, isPlain }) {
  const [isCut, setCut] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const look = () => {
    const { current: line } = place;
    if (isPhone.value) setCut(false);
    else if (line && line.dataset.open === undefined)
      setCut(line.scrollHeight > line.clientHeight + 1);
  };

  useLayoutEffect(() => setOpen(false), [text]);
  useLayoutEffect(look, [text, isOpen]);
  useEffect(() => onResize(/** @type {HTMLElement} */ (place.current), look), []);

  const label = t().status.whole;
  return html`
    <span class="status-sentence" role="status" data-testid="status-sentence" ref=${place} title=${isCut ? text : undefined}
      data-plain=${isPlain ? "" : undefined} data-open=${isCut && isOpen ? "" : undefined}>${text}</span>
    ${
      isCut &&
      html`<button type="button" class="button quiet icon-only status-more" data-testid="status-more" aria-label=${label} title=${label}
      aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}><${Icon} name=${isOpen ? "up" : "down"} /></button>`
    }
  `;
}
