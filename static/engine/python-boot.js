/**
 * Starts Python with NumPy and playgrad: from the server's image of its memory, or step by step if
 * this browser cannot use the image. Downloads run in parallel, and begin again if they fail.
 *
 * An interpreter that was restored leaves a template: compiled code and the image, which the page moves
 * into memory that all workers share. The next one is restored from it, without downloading or compiling again.
 */

import { LoadError } from "./downloads.js";
import { imageIn, install, openImage, restoring } from "./image.js";
import { ImageWorth, isNarrow } from "./image-worth.js";
import { canShareMemory, onSharedMemory, prepareForSharedMemory } from "./memory-sharing.js";
import { giveUpStorage } from "./no-storage.js";
import { BUNDLE, CODE, LOCK, PLACES, loaded, wheelIn } from "./pyodide-files.js";
import { Downloads, IMAGE, MADE } from "./start-downloads.js";
import { readingAllMemory } from "./wasm-memory.js";

/**
 * @import { Image, Libraries } from "./image.js"
 * @import { Template } from "./messages.js"
 */

const sharesMemory = canShareMemory();
if (sharesMemory) prepareForSharedMemory();
/** Python's code, on memory of the kind that it will have. @param {Uint8Array<ArrayBuffer>} code */
const onMemory = (code) => (sharesMemory ? onSharedMemory(code) : code);

/** Interpreters restored from one image would otherwise draw the same random numbers. */
const RESEED = "import random, numpy; random.seed(); numpy.random.seed()";

const TOO_LONG = "it would take longer to arrive than it saves";

/** `input()` finds the end of the file: the page has no input. */
const stdin = () => null;

/**
 * @typedef {{stdout: (line: string) => void, stderr: (line: string) => void}} Streams
 * @typedef {import("./load-report.js").LoadState} LoadState
 * @typedef {import("./pyodide-files.js").Pyodide} Pyodide
 * @typedef {import("./pyodide-files.js").Files} Files
 * @typedef {import("./pyodide-files.js").Library} Library
 * @typedef {{pyodide: Pyodide, template?: () => Promise<Template>, isQuick: boolean}} Booted
 *   `pyodide`: an interpreter in which `import playgrad` works; `isQuick`: whether the line is quick, or was not needed
 */

/**
 * Start Python for programs: what the browser stores is out of reach from then on.
 * @param {Streams} streams
 * @param {(state: LoadState) => void} report is told how the downloads go
 * @param {Template} [template] of an earlier interpreter
 * @param {boolean} [withoutImage] whether an earlier one started without the image, which is not fetched then
 * @param {Downloads} [begun] downloads that were begun before, and know whom to tell
 * @returns {Promise<Booted>}
 */
export async function bootPython(streams, report, template, withoutImage = false, begun) {
  const booted = await boot(streams, report, template, withoutImage, begun);
  giveUpStorage();
  return booted;
}

/** @type {typeof bootPython} */
async function boot(streams, report, template, withoutImage, begun) {
  if (typeof WebAssembly === "undefined")
    throw new Error("this browser has no WebAssembly in workers");
  const downloads = begun ?? new Downloads();
  if (!begun) downloads.tell(report);
  if (template) {
    try {
      return { ...(await copy(await downloads.library, template, streams)), isQuick: true };
    } catch (error) {
      console.info(`Python starts without the template of the last one: ${error}`);
    }
  }
  downloads.begin();
  const { made, image } = await downloads.kept;
  for (const way of made ? [MADE, IMAGE] : [IMAGE]) {
    try {
      if (way === IMAGE && !image && (withoutImage || isNarrow()))
        throw new LoadError(withoutImage ? "so did the last one" : "the line is narrow");
      return { ...(await restore(downloads, way, streams)), isQuick: true };
    } catch (error) {
      console.info(`Python starts without an image of its memory: ${error}`);
      downloads.drop(way);
    }
  }
  const pyodide = await startAfresh(downloads, streams);
  return { pyodide, isQuick: await downloads.line.isQuick };
}

/**
 * Begin the downloads of a start, before the page says what there is to start from. On a slow line the
 * page's own modules come first.
 */
export function beginDownloads() {
  const downloads = new Downloads();
  downloads.line.isQuick.then((isQuick) => isQuick && downloads.begin());
  return downloads;
}

/** @param {Downloads} downloads @param {string} way the URL of the image @param {Streams} streams */
async function restore(downloads, way, streams) {
  if (way === MADE) return await restoreFrom(downloads, await openImage(MADE, "default"), streams);
  const { image } = await downloads.kept;
  if (!image && !(await downloads.line.isQuick)) throw new LoadError(TOO_LONG);
  return await fetchAndRestore(downloads, streams);
}

/**
 * @param {Downloads} downloads
 * @param {Streams} streams
 * @param {RequestCache} [cache]
 * @returns {Promise<Omit<Booted, "isQuick">>}
 */
async function fetchAndRestore(downloads, streams, cache = "default") {
  const worth = new ImageWorth(downloads.line.isNear);
  try {
    const opened = downloads.image(cache, worth);
    const [image] = await Promise.all([opened, downloads.library]);
    await Promise.race([worth.likely, image.whole]); // a start that is given up has compiled for nothing
    return await restoreFrom(downloads, image, streams);
  } catch (error) {
    if (worth.signal.aborted) throw new LoadError(TOO_LONG);
    // It may be the copy in the browser's cache that is damaged.
    const again =
      error instanceof LoadError && !error.status && !error.isSilence && cache === "default";
    if (!again) throw error;
    return await fetchAndRestore(downloads, streams, "reload");
  }
}

/**
 * @param {Downloads} downloads
 * @param {Image & {whole: Promise<Uint8Array>}} image
 * @param {Streams} streams
 */
async function restoreFrom(downloads, image, streams) {
  const { runtime } = downloads;
  // To its end, also if the image is damaged: two interpreters cannot start at the same time (`loaded`).
  const made = await restored(await downloads.library, image, runtime, streams);
  const whole = await image.whole;
  const template = async () => ({
    code: made.code,
    libraries: made.libraries,
    image: whole,
    runtime: await withoutCode(runtime),
  });
  return { pyodide: made.pyodide, template };
}

/** Files other than Python's code, which is shared in its compiled form. @param {Files} runtime */
async function withoutCode(runtime) {
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  for (const [url, content] of runtime) if (url !== CODE) files[url] = await content;
  return files;
}

/**
 * Restore an interpreter from the template of another one.
 * @param {Library} library
 * @param {Template} template
 * @param {Streams} streams
 * @returns {Promise<Omit<Booted, "isQuick">>}
 */
async function copy(library, template, streams) {
  const image = await imageIn(template.image);
  const entries = Object.entries(template.runtime);
  const runtime = new Map(entries.map(([url, content]) => [url, Promise.resolve(content.slice())]));
  return await restored(library, image, runtime, streams, template);
}

/**
 * @param {Library} library
 * @param {Image} image
 * @param {Files} runtime
 * @param {Streams} streams
 * @param {Partial<Pick<Template, "code" | "libraries">>} [compiled] by another interpreter
 */
async function restored({ loadPyodide, create }, image, runtime, streams, compiled = {}) {
  /** @type {Libraries} */
  let libraries = {};
  const options = {
    ...PLACES,
    stdin,
    ...streams,
    ...restoring(readingAllMemory(create), image, async (module, files) => {
      // A copy, because a program may write to its files.
      libraries = await install(module, image.header.files, files.slice(), compiled.libraries);
    }),
  };
  const { pyodide, code } = await loaded(
    () => loadPyodide(options),
    runtime,
    onMemory,
    compiled.code,
  );
  pyodide.runPython(RESEED);
  return { pyodide, code, libraries };
}

/** @param {Downloads} downloads @param {Streams} streams @returns {Promise<Pyodide>} */
async function startAfresh(downloads, streams) {
  const { runtime } = downloads;
  const { loadPyodide, create } = await downloads.library;
  const wheel = wheelIn(await /** @type {Promise<Uint8Array>} */ (runtime.get(LOCK)));
  const files = new Map([...runtime, ...downloads.files([wheel, BUNDLE])]);
  const options = {
    ...PLACES,
    packages: ["numpy"],
    stdin,
    ...streams,
    createPyodideModule: readingAllMemory(create),
  };
  const { pyodide } = await loaded(() => loadPyodide(options), files, onMemory);
  const sitePackages = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
  pyodide.unpackArchive(await files.get(BUNDLE), "zip", { extractDir: sitePackages });
  return pyodide;
}
