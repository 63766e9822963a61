/** Files of data sets: fetched once, and early where a program shows that it will want them. */

/** What a program calls, and the files that it then reads. @type {[call: string, files: string[]][]} */
const WANTED = [
  ["data.mnist(", ["train-images", "train-labels", "test-images", "test-labels"].map((part) => `/data/mnist/${part}`)],
];

/** @param {string} program @returns {string[]} the files that it will read, as far as can be seen */
export function filesWanted(program) {
  return WANTED.flatMap(([call, files]) => (program.includes(call) ? files : []));
}

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
    if (response.ok) this.#content.set(path, new Uint8Array(await response.arrayBuffer()));
  }

  /**
   * A file of this server, waited for.
   * @param {string} path for instance "/data/mnist/train-labels"
   * @returns {Uint8Array}
   */
  read(path) {
    let content = this.#content.get(path);
    if (!content) {
      // What is still on its way cannot arrive while we wait, and would hold up what we wait for.
      this.#early.abort();
      content = request(path);
      this.#content.set(path, content);
    }
    return content;
  }
}

/** @param {string} path @returns {Uint8Array} */
function request(path) {
  const request = new XMLHttpRequest();
  request.open("GET", path, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${path}: ${request.status} ${request.statusText}`);
  return new Uint8Array(request.response);
}
