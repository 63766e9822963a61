/** Links with programs: made of the page's contents, and opened in a session of their own. */

import { batch, computed } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { edit, inPageLanguage, openExample } from "../gallery/examples.js";
import { takeLabSettings } from "../panels/lab/lab-settings.js";
import { t } from "../words/locale.js";
import { panels } from "../panels/panels.js";
import { allow, isBarred } from "../session/opening.js";
import { leaveSession } from "../session/session.js";
import * as store from "../state/store.js";
import { isEmbedded } from "./embedded.js";
import { compare } from "./landmarks.js";
import { LinkError, decode, encode, isLink } from "./link.js";
import { locksHere, setLocks } from "./locks.js";

/** @import { Expected, Shared } from "./link.js" */

/**
 * @param {string[]} hidden parts of the page
 * @param {string} [page] the address of the page that opens it
 * @returns {Promise<string>} the address of a page with the program, its settings and its losses
 */
export async function makeLink(hidden, page = isEmbedded ? urlOf("/") : here()) {
  return `${page}${await encode({ ...present(), ...(hidden.length > 0 && { hidden }) })}`;
}

/** The address of this page, without a program. */
const here = () => location.origin + location.pathname;

/** @returns {Shared} the page's program, settings and run */
function present() {
  const { lab } = store.runOptions.value;
  const { lines } = locksHere.value;
  const picture = store.pictures.value[store.exampleId.value];
  return {
    version: 1,
    ...(lines.length > 0 && { locked: lines }),
    exampleId: store.exampleId.value,
    title: store.example.value?.title ?? store.exampleId.value,
    code: store.source.value,
    device: store.deviceChoice.value,
    view: store.view.value,
    ...(picture && { picture }),
    lab: lab && isCurrent() ? store.labSettings.value : null,
    expected: expected(),
  };
}

/** Whether the run on the page is one of the code in the editor. */
const isCurrent = () => store.executed.value.source === store.source.value;

/** @returns {Expected | null} */
function expected() {
  const about = store.fit.value;
  // Once a setting was changed by hand, the program alone does not give the same losses.
  const [change] = store.settingChanges.value;
  const losses = store.landmarks.value.filter(([step]) => !change || step <= change.step);
  // Of a run that came from Python as a file, the device is not known.
  if (!about?.device || losses.length === 0 || !isCurrent()) return null;
  return {
    losses,
    steps: change?.step ?? store.progress.value.step,
    device: `${about.device}${about.adapter ? `, ${about.adapter}` : ""}`,
  };
}

/** Whether a link has losses to compare. */
export const hasLosses = computed(() => expected() !== null);

/** Open links that are pasted into the address of this page: in a session of their own. */
export function listenForLinks() {
  addEventListener("hashchange", async () => {
    if (!isLink(location.hash) || !(await arrivedProgram())) return;
    await leaveSession();
    location.reload();
  });
}

/** Tells the links apart that the page has tried to open. */
export const linkId = () => `link ${location.hash.slice(-40)}`;

/** The program in the address; null if there is none, or if it cannot be opened, which is said. @returns {Promise<Shared | null>} */
export async function arrivedProgram() {
  if (!isLink(location.hash)) return null;
  try {
    const program = await decode(location.hash);
    if (await isBarred(linkId())) throw new LinkError(t().link.didNotOpen);
    return program;
  } catch (failure) {
    if (!(failure instanceof LinkError)) throw failure;
    allow(linkId()); // so that it can be opened once more
    forgetAddress();
    store.note(failure.message);
    return null;
  }
}

/** Show a program that came with a link; nothing runs. @param {Shared} arrived */
export function showProgram(arrived) {
  batch(() => {
    const shared = { ...arrived, code: inPageLanguage(arrived.exampleId, arrived.code) };
    if (!store.examples.value.some(({ id }) => id === shared.exampleId)) {
      const own = {
        id: shared.exampleId,
        title: shared.title,
        description: t().editor.fromLink,
        source: "",
      };
      store.examples.value = [...store.examples.value, own];
    }
    openExample(shared.exampleId);
    setLocks([]);
    edit(shared.code);
    setLocks(shared.locked ?? [], true);
    store.deviceChoice.value = shared.device;
    const panel = panels().find(({ name }) => name === shared.view);
    if (panel) store.view.value = panel.name;
    if (shared.picture)
      store.pictures.value = { ...store.pictures.value, [shared.exampleId]: shared.picture };
    if (shared.lab) takeLabSettings(shared.lab);
    store.shared.value = shared;
  });
}

/** A reload would open the link again, and replace the visitor's changes. A frame keeps nothing else. */
export const forgetAddress = () =>
  isEmbedded || history.replaceState(null, "", location.pathname + location.search);

/** Forget that the program came with a link. */
export const forgetLink = () => (store.shared.value = null);

/**
 * What became of the losses in the link.
 * @typedef {{kind: "waiting" | "none" | "changed"}
 *   | {kind: "same", compared: number, largest: number, isComplete: boolean}
 *   | {kind: "differs", step: number, expected: number, actual: number}} Verdict
 */
export const verdict = computed(
  /** @returns {Verdict} */ () => {
    const shared = store.shared.value;
    if (!shared?.expected) return { kind: "none" };
    if (store.source.value !== shared.code) return { kind: "changed" };
    if (store.executed.value.source !== shared.code || store.landmarks.value.length === 0)
      return { kind: "waiting" };
    const { compared, differs, largest } = compare(shared.expected.losses, store.landmarks.value);
    if (differs)
      return { kind: "differs", step: differs[0], expected: differs[1], actual: differs[2] };
    return {
      kind: "same",
      compared,
      largest,
      isComplete: compared === shared.expected.losses.length,
    };
  },
);
