/** Names of data sets and of models, in the program and in the library. */

import { computed } from "../../vendor/preact.js";
import { DATA_SETS } from "../records/texts.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { entries, graphNames, modelNames, names } from "./user-data.js";

/** The data sets of the library. */
export const OF_LIBRARY = Object.keys(DATA_SETS);

/** The classes of images and of nodes of the library. @type {Record<string, string[]>} */
export const CLASSES = Object.fromEntries(
  Object.entries(DATA_SETS)
    .map(([name, { classNames }]) => /** @type {const} */ ([name, classNames]))
    .filter(([, classes]) => classes.length > 0),
);

const CALL = new RegExp(
  `^[^#\\n]*\\bdata\\.(?:load\\(\\s*["'])?(${Object.keys(CLASSES).join("|")})\\b`,
  "gm",
);

/** The data set with names of classes that a program calls, if it is the only one. @param {string} source */
export function namedSet(source) {
  const calls = source.matchAll(CALL);
  const [name, ...others] = new Set([...calls].map(([, each]) => each));
  return others.length === 0 ? name : undefined;
}

const LONGEST = 60;

/** The endings of models, as `pg.load_model` reads them. */
const MODEL = /\.(onnx|keras|playgrad|safetensors|tfjs\.zip|pt\.zip)$/i;

/** The ending of the name of a model, in lower case and with the dot; "" for another name. @param {string} name */
export const endingOf = (name) => MODEL.exec(name)?.[0].toLowerCase() ?? "";

/** @param {string} source @returns {string[]} the names that it passes to `pg.data.load`, outside of comments */
export function loadedNames(source) {
  const calls = source.matchAll(/^[^#\n\r\u2028\u2029]*\bdata\.load\(\s*(["'])([^"'\n]+)\1/gm);
  return [...new Set([...calls].map(([, , name]) => name))];
}

/** @param {string} source @returns {string[]} the names that it passes to `pg.data.load_graph`, outside of comments and without paths */
export function loadedGraphs(source) {
  const calls = source.matchAll(
    /^[^#\n\r\u2028\u2029]*\bdata\.load_graph\(\s*(["'])([^"'\n/\\]+)\1/gm,
  );
  return [...new Set([...calls].map(([, , name]) => name))].filter((name) => !/\.npz$/i.test(name));
}

/**
 * @param {string} source
 * @returns {string[]} the files that it passes to `pg.load_model`, outside of comments and without folders, unless it names them elsewhere, too:
 *   it may write them
 */
export function loadedModels(source) {
  const calls = source.matchAll(/^[^#\n\r\u2028\u2029]*\bload_model\(\s*(["'])([^"'\n/\\]+)\1/gm);
  return [...new Set([...calls].map(([, , name]) => name))].filter(
    (name) => source.split(name).length === 2,
  );
}

/** Data sets of a visitor in the program. */
export const usedNames = computed(() =>
  loadedNames(store.source.value).filter((name) => !OF_LIBRARY.includes(name)),
);

/** Data sets that the browser does not have; none before they have been listed. */
export const missingNames = computed(() =>
  entries.value === null ? [] : usedNames.value.filter((name) => !names.value.includes(name)),
);

/** Graphs of a visitor in the program. */
export const usedGraphs = computed(() => loadedGraphs(store.source.value));

/** Graphs that the browser does not have; none before they have been listed. */
export const missingGraphs = computed(() =>
  entries.value === null ? [] : usedGraphs.value.filter((name) => !graphNames.value.includes(name)),
);

/** Models of a visitor in the program. */
export const usedModels = computed(() => loadedModels(store.source.value));

/** Models that the browser does not have; none before they have been listed. */
export const missingModels = computed(() =>
  entries.value === null
    ? []
    : usedModels.value.filter((name) => endingOf(name) && !modelNames.value.includes(name)),
);

/** What is wrong with a name, "" for nothing. @param {string} name */
export function problemOfName(name) {
  const words = t().data.names;
  if (name.trim() === "") return words.empty;
  if (
    name !== name.trim() ||
    name.length > LONGEST ||
    !/^[\p{L}\p{N}_. -]+$/u.test(name) ||
    name.startsWith(".")
  ) {
    return words.wrong(LONGEST);
  }
  if (OF_LIBRARY.includes(name)) return words.ofLibrary(name);
  return "";
}

/** What is wrong with a name of a model, "" for nothing. @param {string} name @param {string} ending of its file, with the dot */
export function problemOfModelName(name, ending) {
  return endingOf(name) === ending && name.length > ending.length
    ? problemOfName(name)
    : t().dataModels.ending(ending);
}

/** A name for the model in a file, which no model has. @param {string} file @param {string[]} taken */
export function suggestedModelName(file, taken) {
  const ending = endingOf(file);
  const base =
    stemOf(`${file.slice(0, -ending.length)}.model`).slice(0, LONGEST - 4 - ending.length) ||
    "model";
  let name = base + ending;
  for (let number = 2; taken.includes(name); number += 1) name = `${base}-${number}${ending}`;
  return name;
}

/** The name of a file in the characters that names have. @param {string} file */
const stemOf = (file) =>
  file
    .replace(/^.*\//, "")
    .replace(/\.[^.]*$/, "")
    .replace(/[^\p{L}\p{N}_.-]+/gu, "-")
    .replace(/^[.-]+|-+$/g, "")
    .slice(0, LONGEST - 4);

/** A name for data of a file, which no data set has. @param {string} file @param {string[]} taken */
export function suggestedName(file, taken) {
  const base = stemOf(file) || "data";
  const isFree = (/** @type {string} */ name) =>
    !taken.includes(name) && !OF_LIBRARY.includes(name);
  let name = base;
  for (let number = 2; !isFree(name); number += 1) name = `${base}-${number}`;
  return name;
}
