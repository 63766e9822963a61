import { encode } from "../../vendor/qr.js";
import { html } from "../../vendor/preact.js";
import { t } from "../locale.js";

/** A QR code (ISO/IEC 18004) holds so many bytes, with the least correction of errors. */
const MOST_BYTES = 2953;
/** Light modules around it, which readers need. */
const BORDER = 4;

/** A link as a picture, for the camera of another device. @param {{link: string}} props */
export function QrCode({ link }) {
  if (new TextEncoder().encode(link).length > MOST_BYTES) {
    return html`<p class="hint" data-testid="qr-too-long">${t().share.qrTooLong(link.length, MOST_BYTES)}</p>`;
  }
  const { data, size } = encode(link, { ecc: "L", border: BORDER });
  // Black on white in the dark, too: not every reader takes it the other way round.
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return html`<svg class="qr-code" data-testid="qr-code" role="img" aria-label=${t().share.qrPicture} viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"><rect width=${size} height=${size} fill="#fff" /><path fill="#000" d=${dark.join("")} /></svg>`;
}
