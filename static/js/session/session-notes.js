/** Sentences about what was saved, restored, or could not be saved. */

import * as format from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** @import { Item } from "./session-saver.js" */
/** @import { StorageFailure } from "./session-database.js" */
/** @import { StorageProblem } from "../state/types.js" */

/**
 * What the visitor calls a part of a session.
 * @param {string} store of the part
 * @param {string} part
 */
export function titleOf(store, part) {
  if (store === "code") return t().sessions.codeOf(part);
  /** @type {Record<string, string>} */
  const titles = t().sessions.parts;
  return titles[part] ?? part;
}

/**
 * @param {number | null} at when the run was saved; null if there was none
 * @param {string[]} lost titles of parts that could not be read
 */
export function describeRestored(at, lost) {
  const sentences = [];
  const hasRun = store.runState.value !== "idle" || store.kept.value !== null;
  if (at !== null && hasRun)
    sentences.push(t().sessions.restored(format.moment(new Date(at))), afterRestoring());
  if (lost.length > 0) sentences.push(t().sessions.unreadable(lost));
  return t().numbers.sentences(sentences);
}

/** @param {Error} failure of reading the session */
export const describeUnread = (failure) => t().sessions.unread(reason(failure));

function afterRestoring() {
  const { kept } = store;
  const isLost =
    kept.value?.program.began !== store.executed.value.began && store.runState.value === "stopped";
  if (kept.value) return isLost ? t().sessions.earlierWeights : t().notes.weightsKept;
  return isLost ? t().sessions.noWeights : "";
}

/**
 * @param {{item: Item, failure: StorageFailure}[]} failures parts that cannot be saved
 * @returns {StorageProblem | null}
 */
export function describeProblem(failures) {
  if (failures.length === 0) return null;
  const broken = failures.find(({ failure }) => failure.reason === "unavailable");
  if (broken) {
    return { what: "everything", text: t().sessions.unavailable(reason(broken.failure)) };
  }
  const parts = failures.map(({ item }) => item);
  if (parts.some(({ store: name }) => name === "code")) {
    const size = format.bytes(new Blob([store.source.value]).size);
    return { what: "code", text: t().sessions.codeTooLarge(size) };
  }
  if (parts.some(({ store: name }) => name === "checkpoints")) {
    const size = format.bytes(store.kept.value?.bytes.length);
    return { what: "weights", text: t().sessions.weightsTooLarge(size) };
  }
  return {
    what: "work",
    text: t().sessions.full(parts.map((item) => titleOf(item.store, item.part))),
  };
}

/** @param {Error} failure */
const reason = ({ message }) => message.trim().replace(/\.$/, "");
