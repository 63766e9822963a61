import { html, useRef } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import { itemsOf } from "./dropped-files.js";

/** @import { Item } from "./drawer-state.js" */

const ACCEPTED = ".csv,.tsv,.txt,.npz,.npy,.zip,image/*,.onnx,.keras,.safetensors,.playgrad";

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
  const words = t().data.sources;
  return html`<section class="data-sources" aria-label=${words.label}>
    <p class="data-drop"><${Icon} name="open" /><span><b>${words.drop}</b>${words.orChoose}</span></p>
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="data-choose" onClick=${() => files.current?.click()}>${words.file}</button>
      <button type="button" class="button" data-testid="data-folder" onClick=${() => folder.current?.click()}>${words.folder}</button>
      <button type="button" class="button" data-testid="data-camera" onClick=${() => begin("camera")}>${words.camera}</button>
      <button type="button" class="button" data-testid="data-points" onClick=${() => begin("points")}>${words.points}</button>
    </div>
    <input type="file" hidden multiple accept=${ACCEPTED} data-testid="data-file" aria-label=${words.files} ref=${files} onChange=${choose} />
    <input type="file" hidden webkitdirectory data-testid="data-folder-file" aria-label=${words.folderOf} ref=${folder} onChange=${choose} />
    <ul class="data-kinds hint">
      <li><b>${words.tables}</b>${words.tablesAre}</li>
      <li><b>${words.graphs}</b>${words.graphsAre}</li>
      <li><b>${words.images}</b>${words.imagesAre}</li>
      <li><b>${words.arrays}</b>${words.arraysAre}</li>
      <li><b>${words.models}</b>${words.modelsAre}</li>
    </ul>
  </section>`;
}
