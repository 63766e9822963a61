/**
 * Starts Python with NumPy and playgrad: from the server's image of its memory, or step by step if
 * this browser cannot use the image. Downloads run in parallel, and begin again if they fail.
 *
 * An interpreter that was restored leaves a template: compiled code and the image, in memory that
 * all workers share. The next one is restored from it, without downloading or compiling again.
 */

import { pyodideURL } from "../vendor/versions.js";
import { LoadError, inSharedMemory, load } from "./downloads.js";
import { imageIn, install, openImage, restoring } from "./image.js";
import { ImageWorth, isNarrow } from "./image-worth.js";
import { importModule } from "./imports.js";
import { LoadReport } from "./load-report.js";
import { canShareMemory, onSharedMemory, prepareForSharedMemory } from "./memory-sharing.js";
import { urlOf } from "./root.js";
import { readingAllMemory } from "./wasm-memory.js";

/**
 * @import { Image, Libraries } from "./image.js"
 * @import { Template } from "./messages.js"
 */

/** The server's folder of the runtime, its lock file and the NumPy wheel. */
const PYODIDE = urlOf(pyodideURL);
const IMAGE = urlOf("/image/python.bin");
const BUNDLE = urlOf("/bundle/playgrad.zip");

/** Files that Pyodide fetches by itself. */
const RUNTIME = ["pyodide.asm.wasm", "python_stdlib_at_once.zip", "pyodide-lock.json"].map(
  (name) => PYODIDE + name,
);
const [CODE, STANDARD_LIBRARY, LOCK] = RUNTIME;
/** Where Pyodide looks for its files. */
const PLACES = { indexURL: PYODIDE, stdLibURL: STANDARD_LIBRARY };

const sharesMemory = canShareMemory();
if (sharesMemory) prepareForSharedMemory();

/** Interpreters restored from one image would otherwise draw the same random numbers. */
const RESEED = "import random, numpy; random.seed(); numpy.random.seed()";

/** `input()` finds the end of the file: the page has no input. */
const stdin = () => null;

/**
 * @typedef {{stdout: (line: string) => void, stderr: (line: string) => void}} Streams
 * @typedef {import("./load-report.js").LoadState} LoadState
 * @typedef {any} Pyodide
 * @typedef {{pyodide: Pyodide, template?: () => Promise<Template>}} Booted
 *   `pyodide`: an interpreter in which `import playgrad` works
 */

/**
 * @param {Streams} streams
 * @param {(state: LoadState) => void} report is told how the downloads go
 * @param {Template} [template] of an earlier interpreter
 * @param {boolean} [withoutImage] whether an earlier one started without the image, which is not fetched then
 * @returns {Promise<Booted>}
 */
export async function bootPython(streams, report, template, withoutImage = false) {
  if (typeof WebAssembly === "undefined")
    throw new Error("this browser has no WebAssembly in workers");
  const downloads = new Downloads(new LoadReport(report));
  const library = downloads.library();
  library.catch(() => {}); // awaited below
  if (template) {
    try {
      return await copy(await library, template, streams);
    } catch (error) {
      console.info(`Python starts without the template of the last one: ${error}`);
    }
  }
  const runtime = downloads.files(RUNTIME);
  try {
    if ((withoutImage || isNarrow()) && !(await isKept(IMAGE)))
      throw new LoadError(withoutImage ? "so did the last one" : "the line is narrow");
    return await restore(downloads, library, runtime, streams);
  } catch (error) {
    console.info(`Python starts without an image of its memory: ${error}`);
    downloads.dropImage();
    return { pyodide: await startAfresh(downloads, await library, runtime, streams) };
  }
}

/**
 * @typedef {Map<string, Promise<Uint8Array<ArrayBuffer>>>} Files by URL
 * @typedef {{loadPyodide: (options: any) => Promise<Pyodide>, create: (settings: any) => Promise<any>}} Library
 */

class Downloads {
  #report;

  /** @param {LoadReport} report */
  constructor(report) {
    this.#report = report;
  }

  /** @param {string} url @returns {Promise<Uint8Array<ArrayBuffer>>} */
  #load(url) {
    const content = load(url, this.#report.options(url));
    content.catch(() => {}); // reported where it is used
    return content;
  }

  /** Begin to download the image. @param {RequestCache} cache @param {ImageWorth} worth */
  image(cache, worth) {
    const { progress } = this.#report.options(IMAGE);
    return openImage(
      IMAGE,
      cache,
      (amount) => {
        // Nobody is told of bytes that may not be fetched.
        const wasLikely = worth.isLikely;
        progress(wasLikely ? amount : { ...amount, total: 0 });
        worth.add(amount, this.#report.received);
        if (worth.isLikely && !wasLikely) progress(amount);
      },
      worth.signal,
    );
  }

  /** Do without the image. */
  dropImage() {
    this.#report.drop(IMAGE);
  }

  /** @param {string[]} urls @returns {Files} */
  files(urls) {
    return new Map(urls.map((url) => [url, this.#load(url)]));
  }

  /** Pyodide's own modules. @returns {Promise<Library>} */
  async library() {
    const names = ["pyodide.mjs", "pyodide.asm.mjs"];
    const [{ loadPyodide }, { default: create }] = await Promise.all(
      names.map((name) => importModule(PYODIDE + name, (url) => this.#load(url))),
    );
    return { loadPyodide, create };
  }
}

/**
 * @param {Downloads} downloads
 * @param {Promise<Library>} library
 * @param {Files} runtime
 * @param {Streams} streams
 * @param {RequestCache} [cache]
 * @returns {Promise<Booted>}
 */
async function restore(downloads, library, runtime, streams, cache = "default") {
  const worth = new ImageWorth();
  try {
    const opened = downloads.image(cache, worth);
    const [image, modules] = await Promise.all([opened, library]);
    await Promise.race([worth.likely, image.whole]); // a start that is given up has compiled for nothing
    const [made, whole] = await Promise.all([
      restored(modules, image, runtime, streams),
      image.whole,
    ]);
    const template = async () => ({
      code: made.code,
      libraries: made.libraries,
      image: inSharedMemory(whole),
      runtime: await shared(runtime),
    });
    return { pyodide: made.pyodide, template };
  } catch (error) {
    if (worth.signal.aborted) throw new LoadError("it would take longer to arrive than it saves");
    // It may be the copy in the browser's cache that is damaged.
    const again =
      error instanceof LoadError && !error.status && !error.isSilence && cache === "default";
    if (!again) throw error;
    return await restore(downloads, library, runtime, streams, "reload");
  }
}

/** Whether the service worker keeps a file, perhaps of another version. @param {string} url */
async function isKept(url) {
  try {
    return (await caches.match(url, { ignoreSearch: true })) !== undefined;
  } catch {
    return false; // storage is forbidden
  }
}

/** Files other than Python's code, which is shared in its compiled form. @param {Files} runtime */
async function shared(runtime) {
  /** @type {Record<string, Uint8Array>} */
  const files = {};
  for (const [url, content] of runtime)
    if (url !== CODE) files[url] = inSharedMemory(await content);
  return files;
}

/**
 * Restore an interpreter from the template of another one.
 * @param {Library} library
 * @param {Template} template
 * @param {Streams} streams
 * @returns {Promise<Booted>}
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
  const { pyodide, code } = await loaded(() => loadPyodide(options), runtime, compiled.code);
  pyodide.runPython(RESEED);
  return { pyodide, code, libraries };
}

/**
 * @param {Downloads} downloads
 * @param {Library} library
 * @param {Files} runtime
 * @param {Streams} streams
 * @returns {Promise<Pyodide>}
 */
async function startAfresh(downloads, { loadPyodide, create }, runtime, streams) {
  const lock = JSON.parse(new TextDecoder().decode(await runtime.get(LOCK)));
  const wheel = PYODIDE + lock.packages.numpy.file_name;
  const files = new Map([...runtime, ...downloads.files([wheel, BUNDLE])]);
  const options = {
    ...PLACES,
    packages: ["numpy"],
    stdin,
    ...streams,
    createPyodideModule: readingAllMemory(create),
  };
  const { pyodide } = await loaded(() => loadPyodide(options), files);
  const sitePackages = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
  pyodide.unpackArchive(await files.get(BUNDLE), "zip", { extractDir: sitePackages });
  return pyodide;
}

/**
 * Let Pyodide have files that are downloaded here, and code that is compiled. It fetches them by
 * itself, but gives up, or waits for ever, when one of them fails, and it keeps damaged files.
 * @param {() => Promise<Pyodide>} load
 * @param {Files} files
 * @param {WebAssembly.Module} [compiled] Python's code
 */
async function loaded(load, files, compiled) {
  const { fetch } = self;
  const { instantiateStreaming } = WebAssembly;
  let code = compiled;
  self.fetch = async (input, options) => {
    const url = new URL(String(input), self.location.href).href;
    if (url === CODE && compiled) return new Response();
    const content = files.get(url);
    if (!content) return await fetch(input, options);
    const type = url.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    const bytes = await content;
    const body = url === CODE && sharesMemory ? onSharedMemory(bytes) : bytes;
    return new Response(body, { headers: { "Content-Type": type } });
  };
  WebAssembly.instantiateStreaming = async (source, imports) => {
    code ??= await WebAssembly.compileStreaming(source);
    return { module: code, instance: await WebAssembly.instantiate(code, imports) };
  };
  try {
    const [pyodide] = await Promise.all([load(), ...files.values()]);
    return { pyodide, code: /** @type {WebAssembly.Module} */ (code) };
  } finally {
    self.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}
