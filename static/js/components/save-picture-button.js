import { html, useState } from "../../vendor/preact.js";
import { t } from "../locale.js";
import * as store from "../store.js";
import { Icon } from "./icons.js";

/**
 * Two small buttons that save a part of the page as a picture.
 * @param {{of: () => Element | null | undefined, name: string, what: string, id: string}} props
 *   `of`: the part; `name`: of the files; `what`: the part in words; `id`: begins the test ids
 */
export function SavePicture({ of, name, what, id }) {
  const [busy, setBusy] = useState(false);

  /** @param {"png" | "svg"} format */
  async function save(format) {
    const element = of();
    if (!element) return;
    setBusy(true);
    try {
      const { savePicture } = await import("../save-picture.js");
      await savePicture(element, name, format);
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
