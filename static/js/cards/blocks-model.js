/** What Blocks shows: the program in the editor, read again after each change. */

import { batch, computed, signal } from "../../vendor/preact.js";
import { measure } from "../blocks/last-run.js";
import { readProgram } from "../blocks/reader.js";
import { inferShapes } from "../blocks/shapes.js";
import { changeText, stepHistory } from "../editor/editor-access.js";
import { t } from "../locale.js";
import * as shelf from "../own-data/data-shelf.js";
import * as store from "../store.js";

/** @import { Brought, Change } from "../blocks/types.js" */

/** @param {string} name @returns {ReturnType<Brought>} */
function brought(name) {
  const about = shelf.entryOf(name)?.about;
  if (!about) return null;
  const targets = about.classes.length > 0 ? "int32" : "float32";
  return {
    samples: { shape: about.shape, dtype: "float32" },
    targets: { shape: [], dtype: targets },
  };
}

export const program = computed(() => readProgram(store.source.value, brought));
/** What the last run shows, while the program is the one that ran. */
export const lastRun = computed(() => {
  const graph = store.executed.value.source === store.source.value ? store.graph.value : null;
  return graph ? measure(program.value, graph) : new Map();
});
export const shapes = computed(() => inferShapes(program.value, lastRun.value));

/** What has just been changed, for who cannot see it. */
export const announcement = signal("");

/** The card that takes the focus after a change: number of the network, and of the item in it. */
export const focusedBlock = signal(/** @type {{network: number, index: number} | null} */ (null));

/**
 * @param {Change[]} changes of the program that is shown
 * @param {string} said
 * @param {{network: number, index: number}} [focus]
 */
export function change(changes, said, focus) {
  batch(() => {
    if (!changeText(changes)) return;
    announcement.value = said;
    if (focus) focusedBlock.value = focus;
  });
}

/** @param {boolean} forwards */
export function undoChange(forwards) {
  if (stepHistory(forwards))
    announcement.value = forwards ? t().blocks.said.redone : t().blocks.said.undone;
}
