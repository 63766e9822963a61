import { html, useRef } from "../../vendor/preact.js";
import { itemsOf } from "../dropped-files.js";
import { Icon } from "./icons.js";

/** @import { Item } from "../data-drawer.js" */

const ACCEPTED = ".csv,.tsv,.txt,.npz,.npy,.zip,image/*";

/**
 * The ways to bring data.
 * @param {{take: (items: Item[]) => void, begin: (kind: "camera" | "points") => void}} props
 */
export function DataSources({ take, begin }) {
  const files = useRef(/** @type {HTMLInputElement | null} */ (null));
  const folder = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {any} event */
  function choose({ target }) {
    if (target.files.length > 0) take(itemsOf(target.files));
    target.value = ""; // so that the same file can be chosen again
  }
  return html`<section class="data-sources" aria-label="Bring data">
    <p class="data-drop"><${Icon} name="open" /><span><b>Drop files anywhere on the page</b>, or choose them here.</span></p>
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="data-choose" onClick=${() => files.current?.click()}>Choose a file</button>
      <button type="button" class="button" data-testid="data-folder" onClick=${() => folder.current?.click()}>A folder of images</button>
      <button type="button" class="button" data-testid="data-camera" onClick=${() => begin("camera")}>Use the camera</button>
      <button type="button" class="button" data-testid="data-points" onClick=${() => begin("points")}>Draw points</button>
    </div>
    <input type="file" hidden multiple accept=${ACCEPTED} data-testid="data-file" aria-label="Files" ref=${files} onChange=${choose} />
    <input type="file" hidden webkitdirectory data-testid="data-folder-file" aria-label="Folder" ref=${folder} onChange=${choose} />
    <ul class="data-kinds hint">
      <li><b>Tables</b>: CSV with any delimiter, with or without a header; up to 32 MiB.</li>
      <li><b>Images</b>: a folder or a ZIP archive with a folder for each class; up to 1 GiB.</li>
      <li><b>Arrays</b>: .npz or .npy of NumPy, with x and y, or x_train, y_train, x_test and y_test; up to 512 MiB.</li>
    </ul>
  </section>`;
}
