/** What the visitor has brought in the file of a project: the data sets, graphs and models that its programs load. */

import {
  endingOf,
  loadedGraphs,
  loadedModels,
  loadedNames,
  problemOfModelName,
  problemOfName,
  suggestedModelName,
  suggestedName,
} from "../own-data/data-names.js";
import * as userData from "../own-data/user-data.js";

/**
 * @import { Entry } from "../own-data/user-data.js"
 *
 * @typedef {{about: Entry["about"], bytes: Uint8Array<ArrayBuffer>}} DataFile `bytes`: an NPZ file, or that of a model
 */

/** Bytes of all data sets in a file. What goes beyond stays in this browser. */
const MOST_BYTES = 5e8;

/**
 * @param {Iterable<string>} codes
 * @returns {Promise<{data: Map<string, DataFile>, left: string[]}>} `left`: names of data sets that are
 *   too large for a file, or that the browser cannot read
 */
export async function dataOf(codes) {
  await userData.list();
  const data = new Map();
  const left = [];
  let bytes = 0;
  const texts = [...codes];
  const used = new Set([
    ...texts.flatMap(loadedNames).map(userData.entryOf),
    ...texts.flatMap(loadedGraphs).map(userData.graphOf),
    ...texts.flatMap(loadedModels).map(userData.modelOf),
  ]);
  for (const entry of used) {
    if (!entry) continue;
    const { name } = entry;
    const content =
      bytes + entry.bytes > MOST_BYTES ? null : await userData.fileOf(name).catch(() => null);
    if (!content) left.push(name);
    else data.set(name, { about: entry.about, bytes: content });
    bytes += content?.length ?? 0;
  }
  return { data, left };
}

/** Whether a file may contain a data set, a graph or a model of that name and form. @param {string} name @param {unknown} about */
export const isDataSet = (name, about) =>
  userData.isModelAbout(about)
    ? problemOfModelName(name, endingOf(name)) === "" && endingOf(name) !== ""
    : problemOfName(name) === "" && (userData.isAbout(about) || userData.isGraphAbout(about));

/**
 * Keep the data sets of a file. What the visitor has is never replaced: other data of the same name
 * gets another.
 * @param {Map<string, DataFile>} data
 * @returns {Promise<{renamed: [string, string][], failed: string[]}>} `failed`: names of data that the browser cannot store
 */
export async function keepData(data) {
  await userData.list();
  /** @type {[string, string][]} */
  const renamed = [];
  const failed = [];
  for (const [name, { about, bytes }] of data) {
    let kept = name;
    if (userData.has(name)) {
      if (same(bytes, await userData.fileOf(name).catch(() => new Uint8Array()))) continue;
      kept =
        about.kind === "model"
          ? suggestedModelName(name, userData.modelNames.value)
          : suggestedName(name, [...userData.names.value, ...userData.graphNames.value]);
      renamed.push([name, kept]);
    }
    const { failure } = await userData.keep(kept, bytes, about);
    if (failure) failed.push(name);
  }
  return { renamed, failed };
}

/** @param {Uint8Array} a @param {Uint8Array} b */
const same = (a, b) => a.length === b.length && a.every((byte, index) => byte === b[index]);
