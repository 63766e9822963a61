// The page's files on a static host, which sends no headers of its own: part of the service worker
// that `playgrad site` writes, before service-worker.js. The host has version.json and, below files/,
// contents by their SHA-256, compressed where that pays. The answers equal those of playgrad's server.
{
  /**
   * @typedef {object} Contents of a version, in addition to the server's description
   * @property {Record<string, string>} files SHA-256 in hex, by path
   * @property {Record<string, string>} extras
   * @property {Record<string, Record<string, string>>} sent headers by path, beside those for all
   * @property {Record<string, string>} always headers of all answers
   * @property {string[]} packed paths of files that are compressed with gzip
   */

  /** A script is checked before it runs; the page itself checks larger files while they arrive. */
  const MOST_AT_ONCE = 1 << 19;
  /** Until an answer has been kept, it serves whoever else asks. */
  const SAME_TIME_MS = 2000;
  const GZIP = [0x1f, 0x8b];

  /** Answers for which two clients may ask at the same time, by digest. @type {Map<string, Promise<Response>>} */
  const underway = new Map();

  /** @param {Contents} list @param {string} path @param {RequestInit} options */
  async function get(list, path, options) {
    const digest = list.files[path] ?? list.extras[path];
    if (options.cache === "reload" || options.cache === "only-if-cached")
      return await ask(digest, list, path, options);
    const asked = underway.get(digest) ?? ask(digest, list, path, options);
    underway.set(digest, asked);
    const response = await asked.catch(() => null);
    if (!response?.ok) underway.delete(digest);
    else setTimeout(() => underway.delete(digest), SAME_TIME_MS);
    return (await asked).clone();
  }

  /** @param {string} digest @param {Contents} list @param {string} path @param {RequestInit} options */
  async function ask(digest, list, path, options) {
    const response = await fetch(`files/${digest}`, options);
    const headers = { ...list.always, ...list.sent[path] };
    if (!response.ok || !response.body)
      return new Response(`${response.status} for ${path}`, { status: response.status, headers });
    const content = list.packed.includes(path) ? await unpacked(response.body) : response.body;
    if (Number(headers["Unencoded-Length"]) > MOST_AT_ONCE)
      return new Response(content, { headers });
    const bytes = await new Response(content).arrayBuffer();
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    if (Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("") !== digest)
      throw new Error(`${path} did not arrive whole`);
    return new Response(bytes, { headers });
  }

  /** Unpack a content, unless the host's own compression has been undone already. @param {ReadableStream<Uint8Array<ArrayBuffer>>} body */
  async function unpacked(body) {
    const [ahead, whole] = body.tee();
    const reader = ahead.getReader();
    /** @type {number[]} */
    const first = [];
    while (first.length < GZIP.length) {
      const { value, done } = await reader.read();
      if (done) break;
      first.push(...value.subarray(0, GZIP.length));
    }
    reader.cancel().catch(() => {});
    const isPacked = GZIP.every((byte, index) => first[index] === byte);
    return isPacked ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
  }

  Reflect.set(self, "site", {
    /**
     * @returns {Promise<Contents | null>} the version that the host has now; null if it has something else
     * @throws {Error} the host cannot be reached, or is in trouble
     */
    async list() {
      const response = await fetch("version.json", { cache: "no-cache" });
      if (response.status >= 500) throw new Error(`${response.status} for version.json`);
      const list = response.ok && (await response.json().catch(() => null));
      return list && list.files && list.sent && Array.isArray(list.packed) ? list : null;
    },
    get,
  });
}
