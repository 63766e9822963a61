import { html, useState } from "../../vendor/preact.js";
import { percent } from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { Icon } from "./icons.js";

/** @typedef {{element: Element, remove: () => void}} Sheet a layout for a picture only */

/**
 * Two small buttons that save a part of the page as a picture.
 * @param {{of: () => Element | Sheet | null | undefined, name: string, what: string, id: string}} props
 *   `of`: the part; `name`: of the files; `what`: the part in words; `id`: begins the test ids
 */
export function SavePicture({ of, name, what, id }) {
  const [busy, setBusy] = useState(false);

  /** @param {"png" | "svg"} format */
  async function save(format) {
    setBusy(true);
    try {
      const { savePicture, svgOf } = await import("../pictures/save-picture.js");
      const svg = taken(of(), svgOf);
      const scale = svg ? await savePicture(svg, name, format) : 1;
      if (scale < 1) store.note(t().pictures.reduced(percent(scale, 0)));
    } catch (failure) {
      store.note(t().pictures.failed(/** @type {Error} */ (failure).message));
    }
    setBusy(false);
  }

  const button = (/** @type {"png" | "svg"} */ format) => html`
    <button type="button" class="button quiet small" data-testid=${`${id}-${format}`} disabled=${busy}
      title=${t().pictures.save(what, format.toUpperCase())} aria-label=${t().pictures.save(what, format.toUpperCase())}
      onClick=${() => save(format)}>${format === "png" && html`<${Icon} name="save" />`}${format.toUpperCase()}</button>
  `;
  return html`<span class="save-picture" data-no-picture>${button("png")}${button("svg")}</span>`;
}

/**
 * Take a picture of a part of the page.
 * @template Taken
 * @param {Element | Sheet | null | undefined} part @param {(element: Element) => Taken} take
 * @returns {Taken | null} null if there is no such part
 */
function taken(part, take) {
  if (!part || part instanceof Element) return part ? take(part) : null;
  try {
    return take(part.element);
  } finally {
    part.remove();
  }
}
