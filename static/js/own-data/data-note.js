import { html, useEffect } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import {
  missingGraphs,
  missingModels,
  missingNames,
  usedGraphs,
  usedModels,
  usedNames,
} from "./data-names.js";
import { list } from "./user-data.js";
import { openDrawer } from "./drawer-state.js";

/** Says which data or model of the program this browser does not have, and offers to add it. */
export function DataNote() {
  const isNeeded = [usedNames, usedGraphs, usedModels].some(({ value }) => value.length > 0);
  useEffect(() => {
    if (isNeeded) list();
  }, [isNeeded]);
  const [data] = [...missingNames.value, ...missingGraphs.value];
  const [model] = missingModels.value;
  const isShared = store.shared.value !== null;
  return html`
    <div class="storage-place" role="status">
      ${
        (data ?? model) !== undefined &&
        html`
        <div class="storage-note" data-testid="data-note">
          <p>${t().numbers.sentences([data === undefined ? t().notes.noModel(model) : t().notes.noData(data), isShared ? t().notes.noDataInLink : ""])}</p>
          <div class="storage-actions">
            <button type="button" class="button small" data-testid="data-note-open" onClick=${() => openDrawer()}>${data === undefined ? t().notes.addModel : t().notes.addData}</button>
          </div>
        </div>
      `
      }
    </div>
  `;
}
