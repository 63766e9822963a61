/** Takes over settings of the Lab that come from a link, a file or an earlier visit. */

import { withinBounds } from "./bounds.js";
import { t } from "./locale.js";
import { labSettingInWords } from "./runs.js";
import * as store from "./store.js";

/** @import { LabOptions } from "../engine/messages.js" */
/** @import { LabSettings } from "./types.js" */

/** @param {LabSettings} settings */
export function takeLabSettings(settings) {
  store.labSettings.value = taken(settings);
}

/** The options that a run goes on with. @param {{devices?: number, lab?: LabOptions}} options */
export function takenOptions({ devices, lab }) {
  /** @type {{devices?: number, lab?: LabOptions}} */
  const result = {};
  if (devices !== undefined) result.devices = taken({ devices }).devices;
  if (lab) result.lab = taken(lab);
  return result;
}

/** Each number within its bounds; it is said which were not. @template {Partial<LabSettings>} T @param {T} settings @returns {T} */
function taken(settings) {
  const { settings: kept, changed } = withinBounds(settings);
  const words = changed.map(([name, value]) =>
    t().lab.outOfBounds(
      labSettingInWords(name),
      value,
      String(kept[/** @type {keyof T} */ (name)] ?? ""),
    ),
  );
  if (words.length > 0) store.note(t().numbers.sentences([store.notice.peek(), ...words]));
  return kept;
}
