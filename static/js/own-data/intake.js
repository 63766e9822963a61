/** What the files that a visitor brings are: a table, a graph in two tables, arrays, images by class, or a model. */

import { t } from "../words/locale.js";
import { openArchive, readEntry } from "./archive.js";
import { hasTargets, readNpz } from "./arrays-set.js";
import { decodeText } from "./csv.js";
import { imagesIn, isImage } from "./image-files.js";
import { isModelFile, takeModel } from "./model-file.js";
import { readNpy } from "./npy.js";
import { DataProblem, LARGEST, checkSize } from "./problem.js";

/**
 * @import { Item } from "./drawer-state.js"
 * @import { Arrays } from "./arrays-set.js"
 * @import { ImageFile } from "./image-files.js"
 * @import { NumberArray } from "./npy.js"
 *
 * @typedef {(
 *   | {kind: "table", name: string, text: string, isGuess: boolean}
 *   | {kind: "graph", name: string, files: [TableFile, TableFile]}
 *   | {kind: "arrays", name: string, arrays: Arrays}
 *   | {kind: "images", name: string, images: ImageFile[], classes: string[], skipped: string[]}
 *   | {kind: "model", name: string, bytes: Uint8Array<ArrayBuffer>}
 * )} Draft what the visitor has yet to choose about
 * @typedef {{name: string, bytes: Uint8Array<ArrayBuffer>}} TableFile
 */

/** The description of a model of TensorFlow.js, whose weights are in files beside it. */
const TFJS_MODEL = /(^|\/)model\.json$/i;
const TABLE = /\.(csv|tsv|txt|tab)$/i;

/** @param {string} name of a file */
export const isTable = (name) => TABLE.test(name);

/**
 * @param {Item[]} items
 * @returns {Promise<Draft>}
 * @throws {DataProblem}
 */
export async function takeIn(items) {
  const words = t().dataFiles;
  const files = items.filter(({ path }) => !isHidden(path));
  if (files.length === 0) throw new DataProblem(words.none(words.kinds));
  const [{ path, blob }] = files;
  if (files.length === 1) return await takeFile(path, blob);
  if (files.every((item) => /\.npy$/i.test(item.path))) return await takeNpy(files);
  if (files.length === 2 && files.every((item) => TABLE.test(item.path)))
    return await takeGraph(files);
  const images = files.filter((item) => isImage(item.path));
  if (images.length > 0)
    return imagesDraft(
      path.split("/")[0],
      files.map((item) => ({ path: item.path, load: async () => item.blob })),
    );
  if (files.some((item) => TFJS_MODEL.test(item.path))) throw new DataProblem(words.pack);
  throw new DataProblem(words.severalOthers(files.length, words.kinds));
}

/** @param {string} path @param {Blob} blob @returns {Promise<Draft>} */
async function takeFile(path, blob) {
  const words = t().dataFiles;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (blob.size === 0) throw new DataProblem(words.empty(name));
  if (TABLE.test(name)) return await takeTable(name, blob);
  if (/\.npz$/i.test(name)) {
    checkSize(name, blob.size, LARGEST.arrays);
    return arraysDraft(name, await readNpz(blob, name));
  }
  if (/\.npy$/i.test(name)) return await takeNpy([{ path, blob }]);
  if (isModelFile(name)) return await takeModel(name, blob);
  if (/\.zip$/i.test(name)) return await takeArchive(name, blob);
  if (isImage(name)) throw new DataProblem(words.oneImage(name, words.kinds));
  if (TFJS_MODEL.test(name)) throw new DataProblem(words.pack);
  if (/\.(xlsx?|ods|parquet|json|arff)$/i.test(name)) throw new DataProblem(words.saveAsCsv(name));
  throw new DataProblem(words.otherKind(name, words.kinds));
}

/** @param {string} name @param {Blob} blob @returns {Promise<Draft>} */
async function takeTable(name, blob) {
  checkSize(name, blob.size, LARGEST.table);
  return { kind: "table", name, ...decodeText(new Uint8Array(await blob.arrayBuffer())) };
}

/** Two tables: the nodes and the edges of a graph. @param {Item[]} items @returns {Promise<Draft>} */
async function takeGraph(items) {
  const files = await Promise.all(
    items.map(async ({ path, blob }) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (blob.size === 0) throw new DataProblem(t().dataFiles.empty(name));
      checkSize(name, blob.size, LARGEST.table);
      return { name, bytes: new Uint8Array(await blob.arrayBuffer()) };
    }),
  );
  return { kind: "graph", name: files[0].name, files: [files[0], files[1]] };
}

/** @param {Item[]} items @returns {Promise<Draft>} */
async function takeNpy(items) {
  /** @type {Arrays} */
  const arrays = new Map();
  for (const { path, blob } of items) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    checkSize(name, blob.size, LARGEST.arrays);
    arrays.set(
      name.replace(/\.npy$/i, ""),
      readNpy(new Uint8Array(await blob.arrayBuffer()), name),
    );
  }
  const [{ path }] = items;
  return arraysDraft(
    items.length === 1 ? path.slice(path.lastIndexOf("/") + 1) : t().dataFiles.theArrays,
    arrays,
  );
}

/** Arrays without targets are a table, if there is one with rows and columns. @param {string} name @param {Arrays} arrays @returns {Draft} */
function arraysDraft(name, arrays) {
  const [only] = [...arrays.values()].filter((array) => "values" in array);
  if (hasTargets(arrays) || !only || arrays.size > 1 || only.shape.length !== 2)
    return { kind: "arrays", name, arrays };
  const {
    values,
    shape: [rows, columns],
  } = /** @type {NumberArray} */ (only);
  const lines = Array.from({ length: rows }, (_, row) =>
    [...values.subarray(row * columns, (row + 1) * columns)].join(","),
  );
  return { kind: "table", name, text: lines.join("\n"), isGuess: false };
}

/** @param {string} name @param {Blob} blob @returns {Promise<Draft>} */
async function takeArchive(name, blob) {
  checkSize(name, blob.size, LARGEST.archive);
  const archive = await openArchive(blob, name);
  const entries = archive.entries.filter((entry) => !isHidden(entry.name));
  if (entries.some((entry) => isImage(entry.name))) {
    return imagesDraft(
      name,
      entries.map((entry) => ({
        path: entry.name,
        load: async () => new Blob([await readEntry(archive, entry, LARGEST.image)]),
      })),
    );
  }
  if (entries.some((entry) => TFJS_MODEL.test(entry.name)))
    return await takeModel(name.replace(/\.zip$/i, ".tfjs.zip"), blob);
  const tables = entries.filter((entry) => TABLE.test(entry.name));
  if (tables.length === 1) {
    return await takeTable(
      tables[0].name,
      new Blob([await readEntry(archive, tables[0], LARGEST.table)]),
    );
  }
  if (tables.length === 2)
    return await takeGraph(
      await Promise.all(
        tables.map(async (entry) => ({
          path: entry.name,
          blob: new Blob([await readEntry(archive, entry, LARGEST.table)]),
        })),
      ),
    );
  const words = t().dataFiles;
  throw new DataProblem(
    tables.length > 1
      ? words.severalTables(name, tables.length)
      : words.nothingIn(name, words.kinds),
  );
}

/** @param {string} name @param {{path: string, load: () => Promise<Blob>}[]} files @returns {Draft} */
function imagesDraft(name, files) {
  return { kind: "images", name, ...imagesIn(files, name) };
}

/** Files that systems leave behind. @param {string} path */
const isHidden = (path) =>
  path
    .split("/")
    .some((part) => part.startsWith(".") || part === "__MACOSX" || part === "Thumbs.db");
