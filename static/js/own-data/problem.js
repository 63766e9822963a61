/** A file or a choice that cannot become data. The message says what is wrong and what to do. */
export class DataProblem extends Error {}

const MEBI = 1 << 20;

/** The largest file of each kind that is read, in bytes. A larger one is refused unread. */
export const LARGEST = { table: 32 * MEBI, arrays: 512 * MEBI, archive: 1024 * MEBI, image: 32 * MEBI };

/** The largest data set, in bytes: Python holds a few copies of it in at most 4 GB. */
export const LARGEST_SET = 256 * MEBI;

/** @param {number} bytes */
const inWords = (bytes) => (bytes >= MEBI ? `${Math.round(bytes / MEBI)} MiB` : `${bytes} bytes`);

/** @param {string} name @param {number} size @param {number} most @throws {DataProblem} */
export function checkSize(name, size, most) {
  if (size <= most) return;
  throw new DataProblem(`${name} has ${inWords(size)}, and this page reads at most ${inWords(most)}. `
    + "Use a part of it here, or all of it on your computer: pg.data.Dataset reads large files piece by piece.");
}

/** @param {number} bytes of all samples @throws {DataProblem} */
export function checkSet(bytes) {
  if (bytes <= LARGEST_SET) return;
  throw new DataProblem(`The data set would take ${inWords(bytes)}, and a page can hold ${inWords(LARGEST_SET)}. `
    + "Use fewer samples, or smaller images.");
}
