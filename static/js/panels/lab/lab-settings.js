/** Takes over settings of the Lab that come from a link, a file or an earlier visit. */

import { withinBounds } from "../../state/bounds.js";
import { t } from "../../words/locale.js";
import { labSettingInWords } from "../runs/runs.js";
import * as store from "../../state/store.js";

/** @import { LabOptions } from "../../../engine/messages.js" */
/** @import { LabSettings } from "../../state/types.js" */

/** @typedef {{devices?: number, lab?: LabOptions}} Options of a run */

/** @param {LabSettings} settings @returns {boolean} whether any was corrected */
export function takeLabSettings(settings) {
  const { kept, isCorrected } = taken(settings);
  store.labSettings.value = kept;
  return isCorrected;
}

/** The options with which a run continues. @param {Options} options @returns {{kept: Options, isCorrected: boolean}} */
export function takenOptions({ devices, lab }) {
  /** @type {Options} */
  const kept = {};
  const ofDevices = devices === undefined ? null : taken({ devices });
  const ofLab = lab ? taken(lab) : null;
  if (ofDevices) kept.devices = ofDevices.kept.devices;
  if (ofLab) kept.lab = ofLab.kept;
  return { kept, isCorrected: Boolean(ofDevices?.isCorrected || ofLab?.isCorrected) };
}

/**
 * Each number within its bounds; it is said which were not.
 * @template {Partial<LabSettings>} T
 * @param {T} settings
 * @returns {{kept: T, isCorrected: boolean}}
 */
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
  return { kept, isCorrected: changed.length > 0 };
}
