/** Archives that a visitor brings: what is wrong with one, or with a file in it, and what to do. */

import { t } from "../words/locale.js";
import { ZipError, ZipReader } from "../files/zip.js";
import { DataProblem } from "./problem.js";

/** @import { Entry } from "../files/zip.js" */

/**
 * @param {Blob} blob
 * @param {string} name for messages
 * @returns {Promise<ZipReader>}
 * @throws {DataProblem}
 */
export async function openArchive(blob, name) {
  try {
    return await ZipReader.open(blob);
  } catch (problem) {
    if (!(problem instanceof ZipError)) throw problem;
    const words = t().dataFiles.archive;
    if (problem.kind === "large") throw new DataProblem(words.tooLarge(name));
    throw problem.kind === "damaged" ? damaged(name) : new DataProblem(words.notZip(name));
  }
}

/**
 * The content of a file in an archive.
 * @param {ZipReader} archive
 * @param {Entry} entry
 * @param {number} most bytes; a file that unpacks to more is refused
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {DataProblem}
 */
export async function readEntry(archive, entry, most) {
  try {
    return await archive.read(entry, most);
  } catch (problem) {
    throw problem instanceof ZipError ? inWords(problem, entry, most) : problem;
  }
}

/** @param {ZipError} problem @param {Entry} entry @param {number} most */
function inWords({ kind }, { name, size, method }, most) {
  const words = t().dataFiles.archive;
  switch (kind) {
    case "encrypted":
      return new DataProblem(words.encrypted(name));
    case "limit":
      return new DataProblem(words.limit(name, size, most));
    case "method":
      return new DataProblem(words.method(name, method));
    case "bomb":
      return new DataProblem(words.bomb(name));
    default:
      return damaged(name);
  }
}

/** @param {string} name */
const damaged = (name) => new DataProblem(t().dataFiles.archive.damaged(name));
