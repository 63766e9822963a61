import { html, useRef } from "../../vendor/preact.js";
import { encode } from "../../vendor/qr.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";

/** A QR code (ISO/IEC 18004) holds so many bytes, with the least correction of errors. */
const MOST_BYTES = 2953;
/** From this size on, in modules, cameras read a code of 300 pixels with difficulty. */
const DENSE = 100;
/** Light modules around it, which readers need. */
const BORDER = 4;

/**
 * A link as a picture, for the camera of another device; large on request, to be read across a room.
 * @param {{link: string}} props
 */
export function QrCode({ link }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  if (new TextEncoder().encode(link).length > MOST_BYTES) {
    return html`<p class="hint" data-testid="qr-too-long">${t().share.qrTooLong(link.length, MOST_BYTES)}</p>`;
  }
  const { data, size } = encode(link, { ecc: "L", border: BORDER });
  // Black on white in the dark, too: not every reader takes it the other way round.
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  const path = dark.join("");
  const picture = (
    /** @type {string} */ id,
  ) => html`<svg class="qr-code" data-testid=${id} role="img" aria-label=${t().share.qrPicture}
    viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect width=${size} height=${size} fill="#fff" /><path fill="#000" d=${path} /></svg>`;
  const close = () => dialog.current?.close();
  // Escape closes the picture, and not the menu that it was opened from.
  const onKeyDown = (/** @type {KeyboardEvent} */ event) =>
    event.key === "Escape" && event.stopPropagation();
  return html`
    ${picture("qr-code")}
    ${size - 2 * BORDER > DENSE && html`<p class="hint" data-testid="qr-dense">${t().share.qrDense}</p>`}
    <div class="share-row"><button type="button" class="button small" data-testid="qr-large"
      onClick=${() => dialog.current?.showModal()}>${t().share.qrLarge}</button></div>
    <dialog class="qr-large" data-testid="qr-dialog" aria-label=${t().share.qrPicture} ref=${dialog} onKeyDown=${onKeyDown} onClick=${close}>
      ${picture("qr-code-large")}
      <button type="button" class="button icon-only" data-testid="qr-close" aria-label=${t().share.qrClose} title=${t().share.qrClose}
        onClick=${close}><${Icon} name="close" /></button>
    </dialog>
  `;
}
