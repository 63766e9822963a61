/** Files of data sets, fetched once, and early if the program shows that it will read them. */

/** Calls in a program, with the files that they read. @type {[call: string, files: string[]][]} */
const READ_BY = [
  ["data.mnist(", ["train-images", "train-labels", "test-images", "test-labels"].map((part) => `/data/mnist/${part}`)],
];

/** @param {string} program @returns {string[]} the files that it will probably read */
export function filesReadBy(program) {
  return READ_BY.flatMap(([call, files]) => (program.includes(call) ? files : []));
}

/** The largest size and the longest download of a file. @typedef {{bytes: number, seconds: number}} Limits */

/** The training images of MNIST are 47 million bytes. @type {Limits} */
const LIMITS = { bytes: 256 << 20, seconds: 300 };

export class DataFiles {
  /** Contents in shared memory, which the next Python worker inherits. @type {Map<string, Uint8Array>} */
  #content = new Map();
  #onFile;
  /** @type {Set<string>} */
  #expected = new Set();
  #early = new AbortController();

  /** @param {(path: string, bytes: Uint8Array) => void} onFile is called with each file that has arrived */
  constructor(onFile) {
    this.#onFile = onFile;
  }

  /** Take over the files of an earlier worker. @param {Map<string, Uint8Array>} files */
  inherit(files) {
    for (const [path, bytes] of files) this.#content.set(path, bytes);
  }

  /** Begin to fetch files that a program will read. @param {string[]} paths */
  expect(paths) {
    for (const path of paths) {
      if (this.#expected.has(path) || this.#content.has(path)) continue;
      this.#expected.add(path);
      this.#fetch(path).catch(() => {}); // `read` tries again and reports the failure
    }
  }

  /** @param {string} path */
  async #fetch(path) {
    const response = await fetch(path, { signal: this.#early.signal });
    if (!response.ok || size(response.headers.get("Content-Length")) > LIMITS.bytes) {
      return response.body?.cancel();
    }
    this.#arrived(path, new Uint8Array(await response.arrayBuffer()));
  }

  /** @param {string} path @param {Uint8Array} bytes */
  #arrived(path, bytes) {
    const content = new Uint8Array(new SharedArrayBuffer(bytes.length));
    content.set(bytes);
    this.#content.set(path, content);
    this.#onFile(path, content);
  }

  /**
   * Read a file of this server, blocking until it has arrived.
   * @param {string} path for instance "/data/mnist/train-labels"
   * @returns {Uint8Array}
   * @throws {Error} the file does not exist or exceeds the limits
   */
  read(path) {
    let content = this.#content.get(path);
    if (!content) {
      // Early downloads cannot arrive while this call blocks, and would slow it down.
      this.#early.abort();
      content = download(path, LIMITS);
      this.#arrived(path, content);
    }
    return content;
  }
}

/**
 * Download a file, blocking until it has arrived.
 * @param {string} path
 * @param {Limits} limits
 * @returns {Uint8Array}
 * @throws {Error} the server refused it, or it exceeds the limits
 */
export function download(path, limits) {
  const end = performance.now() + 1000 * limits.seconds;
  const announced = size(request("HEAD", path, end, limits).getResponseHeader("Content-Length"));
  if (announced > limits.bytes) throw tooLarge(path, limits);
  const content = new Uint8Array(request("GET", path, end, limits).response);
  if (content.length > limits.bytes) throw tooLarge(path, limits);
  return content;
}

/** @param {"HEAD" | "GET"} method @param {string} path @param {number} end time limit as of `performance.now` @param {Limits} limits */
function request(method, path, end, { seconds }) {
  const request = new XMLHttpRequest();
  request.open(method, path, false);
  request.responseType = "arraybuffer";
  request.timeout = Math.max(1, end - performance.now()); // 0 would mean no limit
  try {
    request.send();
  } catch (problem) {
    if (performance.now() < end) throw problem;
    throw new Error(`${path} took more than ${seconds} s. Run again with a faster connection.`);
  }
  if (request.status !== 200) throw new Error(`${path}: ${request.status} ${request.statusText}`);
  return request;
}

/** @param {string | null} length from a header; null if it is missing */
const size = (length) => Number(length ?? 0);

/** @param {string} path @param {Limits} limits */
const tooLarge = (path, limits) =>
  new Error(`${path} is larger than ${limits.bytes} bytes, the largest file that the page loads. Use a part of it.`);
