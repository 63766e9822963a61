/** Sentences about what was saved, restored, or could not be saved. */

import * as format from "./format.js";
import * as store from "./store.js";

/** @import { Item } from "./session-saver.js" */
/** @import { StorageFailure } from "./session-database.js" */
/** @import { StorageProblem } from "./types.js" */

/**
 * @param {number | null} at when the run was saved; null if there was none
 * @param {string[]} lost titles of parts that could not be read
 */
export function describeRestored(at, lost) {
  const sentences = [];
  const hasRun = store.runState.value !== "idle" || store.kept.value !== null;
  if (at !== null && hasRun) sentences.push(`Restored from ${format.moment(new Date(at))}.`, afterRestoring());
  if (lost.length > 0) {
    sentences.push(`${sentence(lost.join(" and "))} could not be read and was put aside; everything else is here.`);
  }
  return sentences.filter(Boolean).join(" ");
}

/** @param {Error} failure of reading the session */
export const describeUnread = (failure) =>
  `What was saved here could not be read (${reason(failure)}). It is still stored: reload the page to try again.`;

function afterRestoring() {
  const { kept } = store;
  const isLost = kept.value?.program.began !== store.executed.value.began && store.runState.value === "stopped";
  if (kept.value && isLost) {
    return "The run ended before its weights were saved; those kept are of the run before it. Run starts it again.";
  }
  if (kept.value) return "The weights are kept.";
  return isLost ? "The run ended before its weights were saved. Run starts it again." : "";
}

/**
 * @param {{item: Item, failure: StorageFailure}[]} failures parts that cannot be saved
 * @returns {StorageProblem | null}
 */
export function describeProblem(failures) {
  if (failures.length === 0) return null;
  const broken = failures.find(({ failure }) => failure.reason === "unavailable");
  if (broken) {
    return {
      what: "everything",
      text: `The browser does not store anything for this page (${reason(broken.failure)}). `
        + "Code, curves and weights are lost when you close or reload it. Save the code and the weights as files.",
    };
  }
  const parts = failures.map(({ item }) => item);
  if (parts.some(({ store: name }) => name === "code")) {
    const size = format.bytes(new Blob([store.source.value]).size);
    return {
      what: "code",
      text: `The browser's storage is full, and the code (${size}) does not fit. It is lost when you close or reload `
        + "this page. Save it as a file, or remove other projects.",
    };
  }
  if (parts.some(({ store: name }) => name === "checkpoints")) {
    const size = format.bytes(store.kept.value?.bytes.length);
    return {
      what: "weights",
      text: `The browser's storage is full, and the weights (${size}) do not fit. They are lost when you close or `
        + "reload this page. Save them as a file, or remove other projects.",
    };
  }
  const titles = [...new Set(parts.map(({ title }) => title))];
  return {
    what: "work",
    text: `The browser's storage is full. What is not saved: ${titles.join(", ")}. Remove other projects to make room.`,
  };
}

/** @param {Error} failure */
const reason = ({ message }) => message.trim().replace(/\.$/, "");

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
