/** Files of data sets: fetched once, and early where a program shows that it will want them. */

/** What a program calls, and the files that it then reads. @type {[call: string, files: string[]][]} */
const WANTED = [
  ["data.mnist(", ["train-images", "train-labels", "test-images", "test-labels"].map((part) => `/data/mnist/${part}`)],
];

/** @param {string} program @returns {string[]} the files that it will read, as far as can be seen */
export function filesWanted(program) {
  return WANTED.flatMap(([call, files]) => (program.includes(call) ? files : []));
}

/** How large a file may be, and how long it may take. @typedef {{bytes: number, seconds: number}} Limits */

/** The images of MNIST are 47 million bytes. @type {Limits} */
const LIMITS = { bytes: 256 << 20, seconds: 300 };

export class DataFiles {
  /** @type {Map<string, Uint8Array>} */
  #content = new Map();
  /** @type {Set<string>} */
  #expected = new Set();
  #early = new AbortController();

  /** Begin to fetch files that will be read. @param {string[]} paths */
  expect(paths) {
    for (const path of paths) {
      if (this.#expected.has(path)) continue;
      this.#expected.add(path);
      this.#fetch(path).catch(() => {}); // `read` tries again, and tells
    }
  }

  /** @param {string} path */
  async #fetch(path) {
    const response = await fetch(path, { signal: this.#early.signal });
    if (!response.ok || size(response.headers.get("Content-Length")) > LIMITS.bytes) {
      return response.body?.cancel();
    }
    this.#content.set(path, new Uint8Array(await response.arrayBuffer()));
  }

  /**
   * A file of this server, waited for.
   * @param {string} path for instance "/data/mnist/train-labels"
   * @returns {Uint8Array}
   * @throws {Error} there is no such file, or it is beyond the limits
   */
  read(path) {
    let content = this.#content.get(path);
    if (!content) {
      // What is still on its way cannot arrive while we wait, and would hold up what we wait for.
      this.#early.abort();
      content = download(path, LIMITS);
      this.#content.set(path, content);
    }
    return content;
  }
}

/**
 * Fetch a file, and wait for it.
 * @param {string} path
 * @param {Limits} limits
 * @returns {Uint8Array}
 * @throws {Error} the server did not give it, or it is beyond the limits
 */
export function download(path, limits) {
  const end = performance.now() + 1000 * limits.seconds;
  const announced = size(request("HEAD", path, end, limits).getResponseHeader("Content-Length"));
  if (announced > limits.bytes) throw tooLarge(path, limits);
  const content = new Uint8Array(request("GET", path, end, limits).response);
  if (content.length > limits.bytes) throw tooLarge(path, limits);
  return content;
}

/** @param {"HEAD" | "GET"} method @param {string} path @param {number} end of the wait @param {Limits} limits */
function request(method, path, end, { seconds }) {
  const request = new XMLHttpRequest();
  request.open(method, path, false);
  request.responseType = "arraybuffer";
  request.timeout = Math.max(1, end - performance.now()); // 0 were no limit
  try {
    request.send();
  } catch (problem) {
    if (performance.now() < end) throw problem;
    throw new Error(`${path} took more than ${seconds} s. Run again when the connection is better.`);
  }
  if (request.status !== 200) throw new Error(`${path}: ${request.status} ${request.statusText}`);
  return request;
}

/** @param {string | null} length as a header says it; 0 if it does not */
const size = (length) => Number(length ?? 0);

/** @param {string} path @param {Limits} limits */
const tooLarge = (path, limits) =>
  new Error(`${path} is larger than the ${limits.bytes} bytes that the page takes. Offer a part of it.`);
