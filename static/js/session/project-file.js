/**
 * Projects as files: a ZIP archive with `project.json`, the programs as `code/EXAMPLE.py`, the other
 * parts as `parts/NAME.json`, the weights as `checkpoint.safetensors`, the data as `data/NAME.npz`, and models that programs load as
 * `models/NAME`. `docs/checkpoints.md` describes it.
 *
 * What is read comes from anywhere: nothing of it is used before it has been checked, and a part that
 * is damaged takes no other with it.
 */

import * as is from "../../engine/forms.js";
import { bytes as inUnits } from "../words/format.js";
import { t } from "../words/locale.js";
import { ZipError, ZipReader, zipped } from "../files/zip.js";
import { isDataSet } from "./project-data.js";
import { fromText, toText } from "./project-json.js";
import { SHAPES, SUMMARY, isExampleId } from "./session-shapes.js";

/**
 * @import { DataFile } from "./project-data.js"
 * @import { SessionSummary } from "../state/types.js"
 * @import { Shape } from "./session-shapes.js"
 *
 * @typedef {Exclude<Shape, "code">} PartName
 * @typedef {{summary: Omit<SessionSummary, "id" | "version" | "saved">, codes: Map<string, string>,
 *            parts: Map<PartName, any>, data: Map<string, DataFile>}} Project
 *   `codes`: by the id of the example; `data`: the visitor's data sets and models that they load
 */

const FORMAT = "playgrad project";
const VERSION = 1;
export const ENDING = ".playgrad";
/** Bytes of a file, and of its contents. */
const LARGEST = 1e9;
const MOST_FILES = 1000;
const ABOUT = "project.json";
const WEIGHTS = "checkpoint.safetensors";

/** A file that cannot be opened; the message says why and what to do. */
export class ProjectFileError extends Error {}

const ABOUT_SHAPE = is.record({
  summary: is.isObject,
  code: is.listOf(is.text),
  parts: is.listOf(is.text),
  data: is.optional(is.isObject),
});

/** @param {Project} project @param {Date} when @returns {Blob} @throws {ProjectFileError} it is too large */
export function encodeProject({ summary, codes, parts, data }, when) {
  const utf8 = new TextEncoder();
  const about = {
    format: FORMAT,
    version: VERSION,
    saved: when.toISOString(),
    summary,
    code: [...codes.keys()],
    parts: [...parts.keys()],
    data: Object.fromEntries([...data].map(([name, { about: facts }]) => [name, facts])),
  };
  const files = new Map([[ABOUT, utf8.encode(JSON.stringify(about, null, 2))]]);
  for (const [id, code] of codes) files.set(codeName(id), utf8.encode(code));
  for (const [name, value] of parts) {
    const { bytes = null, ...rest } = name === "checkpoint" ? value : {};
    files.set(partName(name), utf8.encode(toText(bytes ? rest : value)));
    if (bytes) files.set(WEIGHTS, bytes);
  }
  for (const [name, { about: facts, bytes }] of data) files.set(dataName(name, facts), bytes);
  const blob = zipped(files, when);
  if (blob.size <= LARGEST) return blob;
  throw new ProjectFileError(t().projectFile.tooLarge(inUnits(blob.size), inUnits(LARGEST)));
}

/** @param {string} id */
const codeName = (id) => `code/${id}.py`;
/** @param {string} name */
const partName = (name) => `parts/${name}.json`;
/** @param {string} name @param {DataFile["about"]} about */
const dataName = (name, { kind }) => (kind === "model" ? `models/${name}` : `data/${name}.npz`);

/**
 * @param {File} file
 * @returns {Promise<{project: Project, lost: string[]}>} `lost`: the names of parts, "code/…" of
 *   programs and "data/…" of data sets that could not be read
 * @throws {ProjectFileError}
 */
export async function decodeProject(file) {
  const { name, size } = file;
  if (size === 0) throw new ProjectFileError(t().projectFile.empty(name));
  if (size > LARGEST)
    throw new ProjectFileError(t().projectFile.otherFile(name, inUnits(size), inUnits(LARGEST)));
  try {
    const archive = await ZipReader.open(file);
    const about = await readAbout(archive, name);
    if (archive.size > LARGEST || archive.names.length > MOST_FILES) throw farTooMuch(name);
    return await readParts(archive, about);
  } catch (problem) {
    throw described(/** @type {Error} */ (problem), name);
  }
}

/** Archives that `encodeProject` does not write, nor another program that repacks one without a password. */
const NO_PROJECT = new Set(["foreign", "large", "encrypted", "method"]);

/** @param {string} name of the file */
const farTooMuch = (name) => new ProjectFileError(t().projectFile.farTooMuch(name));

/** @param {Error} problem @param {string} name of the file */
function described(problem, name) {
  if (problem instanceof ProjectFileError) return problem;
  const words = t().projectFile;
  if (!(problem instanceof ZipError))
    return new ProjectFileError(words.unreadable(name, problem.message));
  if (problem.kind === "limit") return farTooMuch(name);
  if (NO_PROJECT.has(problem.kind))
    return new ProjectFileError(t().numbers.sentences([words.noProject(name), adviceFor(name)]));
  return new ProjectFileError(
    (problem.kind === "cut" ? words.incomplete : words.damaged)(name, problem.message),
  );
}

/** @param {string} name */
function adviceFor(name) {
  if (/\.(safetensors|npz)$/i.test(name)) return t().projectFile.isWeights;
  if (/\.(py|ipynb)$/i.test(name)) return t().projectFile.isCode;
  return t().projectFile.chooseEnding(ENDING);
}

/** @param {ZipReader} archive @param {string} name of the file */
async function readAbout(archive, name) {
  if (!archive.names.includes(ABOUT)) {
    throw new ProjectFileError(t().projectFile.noProjectZip(name, ENDING));
  }
  /** @type {any} */
  let about;
  try {
    about = JSON.parse(textOf(await archive.read(ABOUT, LARGEST)));
  } catch (problem) {
    throw problem instanceof ZipError
      ? problem
      : new ZipError("damaged", t().projectFile.zip.notJson(ABOUT));
  }
  if (about?.format !== FORMAT) {
    throw new ProjectFileError(t().projectFile.noProjectZip(name, ENDING));
  }
  if (Number.isInteger(about.version) && about.version > VERSION) {
    throw new ProjectFileError(t().projectFile.isNewer(name));
  }
  const summary = { ...about.summary, id: "", version: 1, saved: 0 };
  if (
    about.version !== VERSION ||
    !ABOUT_SHAPE(about) ||
    !SUMMARY(summary) ||
    !isExampleId(summary.exampleId)
  ) {
    throw new ZipError("damaged", t().projectFile.zip.lacking(ABOUT));
  }
  return about;
}

/** @param {ZipReader} archive @param {any} about */
async function readParts(archive, about) {
  /** @type {Project} */
  const project = {
    summary: summaryOf(about.summary),
    codes: new Map(),
    parts: new Map(),
    data: new Map(),
  };
  /** @type {string[]} */
  const lost = [];
  for (const id of new Set(about.code)) {
    const code = isExampleId(id)
      ? await readable(async () => textOf(await archive.read(codeName(id))))
      : undefined;
    if (code === undefined) lost.push(`code/${id}`);
    else project.codes.set(id, code);
  }
  for (const name of new Set(about.parts)) {
    if (name === "code" || !Object.hasOwn(SHAPES, name)) continue; // a later version's
    const value = await readable(async () => {
      const read = fromText(textOf(await archive.read(partName(name))));
      return name === "checkpoint" ? { ...read, bytes: await archive.read(WEIGHTS) } : read;
    });
    if (SHAPES[/** @type {PartName} */ (name)](value) && isSane(name, value))
      project.parts.set(name, value);
    else lost.push(name);
  }
  for (const [name, facts] of Object.entries(about.data ?? {})) {
    const bytes = isDataSet(name, facts)
      ? await readable(() => archive.read(dataName(name, facts)))
      : undefined;
    if (bytes === undefined) lost.push(`data/${name}`);
    else project.data.set(name, { about: facts, bytes });
  }
  return { project, lost };
}

/** @param {string} name @param {any} value */
const isSane = (name, value) =>
  name !== "choices" || value.exampleId === "" || isExampleId(value.exampleId);

/** Only the fields that a summary has. @param {any} summary @returns {Project["summary"]} */
const summaryOf = ({
  created,
  touched,
  name,
  exampleId,
  title,
  edited,
  state,
  step,
  totalSteps,
}) => ({
  created,
  touched,
  name: cleanName(name),
  exampleId,
  title,
  edited,
  state,
  step,
  totalSteps,
});

/** @template T @param {() => Promise<T>} work @returns {Promise<T | undefined>} undefined if the content is damaged */
async function readable(work) {
  try {
    return await work();
  } catch (problem) {
    if (problem instanceof DOMException) throw problem; // the file itself cannot be read
    return undefined;
  }
}

/** @param {Uint8Array} bytes @throws {TypeError} it is not UTF-8 */
const textOf = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

/** The longest name of a project. */
export const LONGEST_NAME = 80;

/** A name on one line, without characters that change how it is read. @param {unknown} name */
export const cleanName = (name) =>
  String(name ?? "")
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+/gu, " ")
    .trim()
    .slice(0, LONGEST_NAME);

/** A name that every system takes for a file. @param {string} name */
export const fileNameOf = (name) =>
  `${name.replace(/[^\p{L}\p{N} .,'!+=@_()-]+/gu, "-").replace(/^[. -]+|[. -]+$/g, "") || "project"}${ENDING}`;
