/** Archives that a visitor brings: what is wrong with one, or with a file in it, and what to do. */

import { ZipError, ZipReader } from "../zip.js";
import { DataProblem } from "./problem.js";

/** @import { Entry } from "../zip.js" */

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
    if (problem.kind === "large") throw new DataProblem(`${name} is too large a ZIP archive for this page. Pack a part of the files.`);
    throw problem.kind === "damaged" ? damaged(name)
      : new DataProblem(`${name} is not a ZIP archive, or it is truncated. Pack the files again.`);
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
  switch (kind) {
    case "encrypted": return new DataProblem(`${name} is encrypted. Pack it without a password.`);
    case "limit": return new DataProblem(`${name} unpacks to ${size} bytes, more than the ${most} allowed.`);
    case "method": return new DataProblem(`${name} is packed in a way (${method}) that browsers cannot unpack. Pack it as an ordinary ZIP.`);
    case "bomb": return new DataProblem(`${name} unpacks to more than the archive says. It is damaged, or made to do harm.`);
    default: return damaged(name);
  }
}

/** @param {string} name */
const damaged = (name) => new DataProblem(`${name} is damaged. Pack it again.`);
