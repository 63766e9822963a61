import { t } from "../words/locale.js";

/** A file or a choice that cannot become data. The message says what is wrong and what to do. */
export class DataProblem extends Error {}

const MEBI = 1 << 20;

/** The largest file of each kind that is read, in bytes. A larger one is refused unread. */
export const LARGEST = {
  table: 32 * MEBI,
  arrays: 512 * MEBI,
  archive: 1024 * MEBI,
  image: 32 * MEBI,
  model: 512 * MEBI,
};

/** The largest data set, in bytes: Python holds a few copies of it in at most 4 GB. */
export const LARGEST_SET = 256 * MEBI;

/** @param {number} bytes */
const inWords = (bytes) => t().dataFiles.size(bytes / MEBI, bytes);

/** @param {string} name @param {number} size @param {number} most @throws {DataProblem} */
export function checkSize(name, size, most) {
  if (size <= most) return;
  throw new DataProblem(t().dataFiles.tooLarge(name, inWords(size), inWords(most)));
}

/** @param {number} bytes of all samples @throws {DataProblem} */
export function checkSet(bytes) {
  if (bytes <= LARGEST_SET) return;
  throw new DataProblem(t().dataFiles.setTooLarge(inWords(bytes), inWords(LARGEST_SET)));
}
