/**
 * The visitor's own data sets and graphs, as NPZ files, and model files, by name. The browser keeps them; a file that it
 * cannot store stays in memory until the page closes.
 */

import { computed, signal } from "../../vendor/preact.js";
import { YOURS } from "../../engine/data-files.js";
import * as is from "../../engine/forms.js";
import { MOST, moment, name, tally } from "../state/bounds.js";
import { en } from "../messages/en.js";
import { StorageFailure, database } from "../session/session-database.js";

/**
 * @typedef {object} About
 * @property {"table" | "images" | "arrays" | "points"} kind
 * @property {number[]} shape of one sample
 * @property {number} train
 * @property {number} test
 * @property {string[]} classes their names; none for numbers
 * @property {string[]} columns the names of the features of a table
 *
 * @typedef {object} GraphAbout
 * @property {"graph"} kind
 * @property {number} nodes
 * @property {number} edges
 * @property {number} known nodes whose class, or number, is known
 * @property {number} features
 * @property {boolean} plain whether all features are 0 or 1
 * @property {string[]} classes their names; none for numbers
 *
 * @typedef {import("../../engine/messages.js").ModelFile & {kind: "model"}} ModelAbout
 *
 * @typedef {object} Entry
 * @property {string} name that of a model has the ending of its file
 * @property {number} saved when, in milliseconds
 * @property {number} bytes
 * @property {About | GraphAbout | ModelAbout} about
 * @property {StorageFailure} [failure] why it is kept in memory only
 *
 * @typedef {Entry & {about: About}} DataEntry
 * @typedef {Entry & {about: GraphAbout}} GraphEntry
 */

/** Files that the browser could not store, by name. @type {Map<string, Uint8Array<ArrayBuffer>>} */
const inMemory = new Map();

/** Latest first; null until they have been listed. */
export const entries = signal(/** @type {Entry[] | null} */ (null));

/** @param {Entry} entry @returns {entry is DataEntry} */
export const isData = (entry) => entry.about.kind !== "model" && entry.about.kind !== "graph";

/** @param {Entry} entry @returns {entry is GraphEntry} */
const isGraph = (entry) => entry.about.kind === "graph";

/** @param {Entry} entry */
const isModel = (entry) => entry.about.kind === "model";

/** Of the data sets. */
export const names = computed(() => entries.value?.filter(isData).map(({ name }) => name) ?? []);

/** Of the graphs. */
export const graphNames = computed(
  () => entries.value?.filter(isGraph).map(({ name }) => name) ?? [],
);

/** Of the models. */
export const modelNames = computed(
  () => entries.value?.filter(isModel).map(({ name }) => name) ?? [],
);

/** @type {{underway: Promise<void> | null}} */
const listing = { underway: null };

/** List the data sets in `entries`, unless that was done. */
export function list() {
  listing.underway ??= read();
  return listing.underway;
}

async function read() {
  /** @type {Entry[]} */
  let stored = [];
  try {
    stored = (await database.all("data")).filter(isEntry);
  } catch (failure) {
    if (!(failure instanceof StorageFailure)) throw failure; // without storage, there is nothing in it
  }
  const others = (entries.value ?? []).filter(({ name }) => inMemory.has(name));
  const kept = stored.filter(({ name }) => !inMemory.has(name));
  entries.value = [...others, ...kept].sort((a, b) => b.saved - a.saved);
}

const side = is.record({ shape: is.listOf(is.nullable(tally), MOST.axes), dtype: name });

export const isModelAbout = is.record({
  kind: is.oneOf("model"),
  parameters: tally,
  layers: tally,
  compiled: is.flag,
  sequence_length: is.optional(is.nullable(tally)),
  inputs: is.listOf(side, MOST.names),
  outputs: is.listOf(side, MOST.names),
});

export const isAbout = is.record({
  kind: is.oneOf("table", "images", "arrays", "points"),
  shape: is.listOf(tally, MOST.axes),
  train: tally,
  test: tally,
  classes: is.listOf(name, MOST.classes),
  columns: is.listOf(name, MOST.classes),
});

export const isGraphAbout = is.record({
  kind: is.oneOf("graph"),
  nodes: tally,
  edges: tally,
  known: tally,
  features: tally,
  plain: is.flag,
  classes: is.listOf(name, MOST.classes),
});

const isEntry = is.record({
  name,
  saved: moment,
  bytes: tally,
  about: (about) => isAbout(about) || isGraphAbout(about) || isModelAbout(about),
});

/** Whether the name is taken. @param {string} name */
export const has = (name) => entries.value?.some((each) => each.name === name) ?? false;

/** The data set of that name. @param {string} name */
export const entryOf = (name) => entries.value?.filter(isData).find((each) => each.name === name);

/** The graph of that name. @param {string} name */
export const graphOf = (name) => entries.value?.filter(isGraph).find((each) => each.name === name);

/** The model of that name. @param {string} name */
export const modelOf = (name) => entries.value?.find((each) => each.name === name && isModel(each));

/**
 * Keep a data set, a graph or a model, replacing one of the same name.
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} bytes an NPZ file, or that of a model
 * @param {Entry["about"]} about
 * @returns {Promise<Entry>} with its `failure` if the browser could not store it
 */
export async function keep(name, bytes, about) {
  await list();
  /** @type {Entry} */
  const entry = { name, saved: Date.now(), bytes: bytes.length, about };
  try {
    await database.writeAll([
      { store: "data", records: [entry] },
      { store: "data_files", records: [{ name, bytes }] },
    ]);
    inMemory.delete(name);
  } catch (failure) {
    if (!(failure instanceof StorageFailure)) throw failure;
    inMemory.set(name, bytes);
    entry.failure = failure;
  }
  entries.value = [entry, ...(entries.value ?? []).filter((each) => each.name !== name)];
  return entry;
}

/** The browser has lost a file; the message is for Python. */
export class LostData extends Error {}

/** @param {string} name @returns {Promise<Uint8Array<ArrayBuffer>>} the file @throws {LostData | StorageFailure} it cannot be read */
export async function fileOf(name) {
  const held = inMemory.get(name);
  if (held) return held;
  const record = await database.get("data_files", name);
  if (record?.bytes instanceof Uint8Array) return record.bytes;
  throw new LostData(en.data.kept.lost(name));
}

/** @param {string} name @param {string} next a name that is not taken */
export async function rename(name, next) {
  const entry = entries.value?.find((each) => each.name === name);
  if (!entry) return;
  const bytes = await fileOf(name);
  await keep(next, bytes, entry.about);
  await remove(name);
}

/** @param {string} name */
export async function remove(name) {
  inMemory.delete(name);
  entries.value = (entries.value ?? []).filter((each) => each.name !== name);
  await database.writeAll([
    { store: "data", removed: [name] },
    { store: "data_files", removed: [name] },
  ]);
}

/** Below YOURS: the models. Names have no slash. */
const MODELS = "models/";

/**
 * Answer Python: the names of all data sets and graphs, or of all models, as JSON, or the file of one.
 * @param {string} path below YOURS
 * @returns {Promise<Uint8Array>}
 */
export async function readFile(path) {
  listing.underway = null; // another tab may have added some
  await list();
  const part = path.slice(YOURS.length);
  const ofModels = part.startsWith(MODELS);
  const name = decodeURIComponent(ofModels ? part.slice(MODELS.length) : part);
  if (name) return await fileOf(name);
  return new TextEncoder().encode(
    JSON.stringify(ofModels ? modelNames.value : [...names.value, ...graphNames.value]),
  );
}
