/**
 * Downloads that notice a line that is dead and an answer that is cut or damaged, and begin again.
 *
 * The server says what a file is before its transfer is compressed (headers `Playgrad-Digest` and
 * `Unencoded-Length`). A file that does not match is fetched past the browser's cache.
 */

/**
 * No byte for so long: the line is dead. A slow line may take as long as it needs. A later try waits
 * longer, for a server that has too much to do.
 */
const SILENCE_MS = { first: 12_000, most: 60_000 };
/** A timer that is so late says nothing about the line. */
const LATE_MS = 500;
/** Pauses before the tries that follow; the last one repeats. */
const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 15_000];
/** So many bytes are copied without a break. */
const BREATH_BYTES = 2 << 20;
/** How often to look whether the computer is online again: workers get no event. */
const LOOK_MS = 250;

/** The browser's own: while Pyodide starts, the global one returns the files downloaded here. */
const { fetch } = globalThis;

/** @import { Sentence } from "./messages.js" */

/**
 * @typedef {{received: number, total: number}} Amount bytes on the line; `total` is 0 if unknown
 * @typedef {object} Options
 * @property {(amount: Amount) => void} [progress] is called after each portion
 * @property {(bytes: Uint8Array<ArrayBuffer>, isFirst: boolean) => void} [arriving] is called after each portion with all
 *   that has arrived; `isFirst`: it is the first of a try
 * @property {(problem: LoadError | null, pause: number) => void} [problem] is called after each failed
 *   try with the milliseconds until the next, and with null as soon as a later try receives something
 * @property {(error: LoadError, tries: number) => boolean} [patient] whether to try again; always, without it
 * @property {boolean} [shared] put the content into shared memory
 * @property {number} [most] the largest size in bytes
 * @property {AbortSignal} [signal] ends the download
 * @property {string} [accept] a type that is welcome beside any other
 */

/** A file that did not arrive as it should; the message is a sentence, in English. */
export class LoadError extends Error {
  /**
   * @param {string} message
   * @param {{code?: string, values?: Sentence["values"], status?: number, isDamaged?: boolean, isSilence?: boolean, isFinal?: boolean}} [details]
   */
  constructor(
    message,
    {
      code = "",
      values = {},
      status = 0,
      isDamaged = false,
      isSilence = false,
      isFinal = false,
    } = {},
  ) {
    super(message);
    this.name = "LoadError";
    /** The message, for the page to say in its language. @type {Sentence} */
    this.sentence = { message, code, values };
    /** The status of the answer; 0 if there was none, or a good one. */
    this.status = status;
    this.isDamaged = isDamaged;
    /** Whether nothing came for a long time. */
    this.isSilence = isSilence;
    /** Whether another try would end in the same way. */
    this.isFinal = isFinal;
  }
}

/**
 * Download a file, until it has arrived whole.
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<Uint8Array<ArrayBuffer>>} in shared memory if the options say so
 * @throws {LoadError} the file is too large, or the options say that patience is at its end
 */
export async function load(url, options = {}) {
  const { problem = () => {}, patient = () => true, signal } = options;
  /** @type {RequestCache} */
  let cache = "default";
  for (let tries = 1; ; tries++) {
    try {
      const silence = Math.min(SILENCE_MS.most, SILENCE_MS.first * 2 ** (tries - 1));
      const { most, accept } = options;
      const arriving = await open(url, { cache, signal, most, silence, accept });
      // What was damaged before may well be again: all is well only once it has arrived.
      if (tries > 1 && cache !== "reload") problem(null, 0);
      const content = await collect(arriving, options);
      if (tries > 1) problem(null, 0);
      return content;
    } catch (error) {
      signal?.throwIfAborted();
      const failure = asLoadError(error, url);
      if (failure.isFinal || !patient(failure, tries)) throw failure;
      // What is damaged may be the copy in the browser's cache, also if it cannot even be unpacked.
      if (failure.isDamaged || tries > 1) cache = "reload";
      const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1];
      problem(failure, pause);
      await rest(pause, signal);
    }
  }
}

/**
 * @typedef {object} Arriving a file that begins to arrive
 * @property {string} url
 * @property {number} total size in bytes; 0 if unknown
 * @property {number} packed size on the line, where it may be compressed
 * @property {string | null} digest SHA-256 in base64
 * @property {AsyncGenerator<Uint8Array<ArrayBuffer>>} portions throws if no byte comes for a while
 */

/**
 * Begin to download a file.
 * @param {string} url
 * @param {{cache?: RequestCache, signal?: AbortSignal, most?: number, silence?: number, accept?: string}} [options]
 *   `most`: the largest size in bytes; `silence`: the longest pause in milliseconds
 * @returns {Promise<Arriving>}
 * @throws {LoadError}
 */
export async function open(
  url,
  { cache = "default", signal, most = Infinity, silence = SILENCE_MS.first, accept } = {},
) {
  const line = new Line(url, silence, signal);
  /** @type {Record<string, string>} */
  const headers = accept ? { Accept: `${accept}, */*` } : {};
  try {
    const response = await line.watched(fetch(url, { cache, signal: line.signal, headers }));
    if (!response.ok || !response.body) throw await line.watched(refusal(response, url));
    const total = Number(response.headers.get("Unencoded-Length") ?? 0);
    if (total > most) throw tooLarge(url, most);
    const digest =
      /sha-256=:([^:]+):/.exec(response.headers.get("Playgrad-Digest") ?? "")?.[1] ?? null;
    const isPacked = response.headers.has("Content-Encoding");
    const packed = (isPacked && Number(response.headers.get("Content-Length"))) || total;
    return { url, total, packed, digest, portions: portions(response.body, line, most) };
  } catch (error) {
    line.end();
    throw asLoadError(error, url);
  }
}

/**
 * How much of a file has arrived. Only its size after decompression can be counted.
 * @param {Pick<Arriving, "total" | "packed">} arriving
 * @param {number} size in bytes
 * @returns {Amount}
 */
export function amountOf({ total, packed }, size) {
  return { received: total ? Math.round((size / total) * packed) : size, total: packed };
}

/**
 * Check the bytes that have arrived.
 * @param {Uint8Array<ArrayBuffer>} content
 * @param {Pick<Arriving, "url" | "total" | "digest">} arriving
 * @throws {LoadError}
 */
export async function check(content, { url, total, digest }) {
  if (total && content.length !== total) {
    throw damaged(url, `${content.length} of ${total} bytes arrived`, "cut", {
      arrived: content.length,
      total,
    });
  }
  if (!digest || !globalThis.crypto?.subtle) return; // the size has to do
  const actual = base64(await crypto.subtle.digest("SHA-256", content));
  if (actual !== digest) throw damaged(url, "its checksum is wrong", "damaged");
}

/** @param {string} url @param {string} how @param {string} code @param {Sentence["values"]} [values] */
export const damaged = (url, how, code, values) =>
  new LoadError(`${nameOf(url)} arrived damaged: ${how}.`, {
    code,
    values: { file: nameOf(url), ...values },
    isDamaged: true,
  });

/** @param {string} url @param {number} most */
const tooLarge = (url, most) =>
  new LoadError(
    `${pathOf(url)} is larger than ${most} bytes, the largest file that the page loads. Use a part of it.`,
    { code: "large", values: { file: pathOf(url), most }, isFinal: true },
  );

/** @param {Arriving} file @param {Options} options @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function collect(file, { progress = () => {}, arriving = () => {}, shared = false }) {
  const gathered = new Gathered(file.total);
  for await (const portion of file.portions) {
    const isFirst = gathered.size === 0;
    gathered.add(portion);
    progress(amountOf(file, gathered.size));
    arriving(gathered.bytes, isFirst);
  }
  await check(gathered.bytes, file);
  return shared ? await moveToSharedMemory(gathered.bytes) : gathered.bytes;
}

/** Copy a file for all workers, with breaks. @param {Uint8Array} content @returns {Promise<Uint8Array<any>>} */
export async function moveToSharedMemory(content) {
  const copy = new Uint8Array(new SharedArrayBuffer(content.length));
  for (let start = 0; start < content.length; start += BREATH_BYTES) {
    copy.set(content.subarray(start, start + BREATH_BYTES), start);
    await breath();
  }
  return copy;
}

/** Let the page draw and listen; browsers make a timer in a row of them wait for 4 ms. @returns {Promise<void>} */
const breath = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/** Portions, one after the other in memory. */
export class Gathered {
  /** @type {Uint8Array<ArrayBuffer>} */
  #content = new Uint8Array();
  size = 0;
  #expected;

  /** @param {number} expected size in bytes; 0 if unknown */
  constructor(expected) {
    this.#expected = expected;
  }

  /** @param {Uint8Array<ArrayBuffer>} portion is not to be changed afterwards */
  add(portion) {
    const size = this.size + portion.length;
    // Browsers unpack a compressed file at once: often the first portion is the whole of it.
    if (this.size === 0)
      this.#content = size >= this.#expected ? portion : new Uint8Array(this.#expected);
    if (size > this.#content.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#content.length));
      larger.set(this.#content);
      this.#content = larger;
    }
    if (this.#content !== portion) this.#content.set(portion, this.size);
    this.size = size;
  }

  /** What has arrived so far. */
  get bytes() {
    return this.#content.subarray(0, this.size);
  }
}

/** @param {ReadableStream<Uint8Array<ArrayBuffer>>} body @param {Line} line @param {number} most */
async function* portions(body, line, most) {
  const reader = body.getReader();
  let received = 0;
  try {
    for (;;) {
      const { done, value } = await line.watched(reader.read());
      if (done) return;
      received += value.length;
      if (received > most) throw tooLarge(line.url, most);
      yield value;
    }
  } catch (error) {
    throw asLoadError(error, line.url);
  } finally {
    line.end();
  }
}

/** A request that is given up when nothing happens for a while. */
class Line {
  #abort = new AbortController();
  #silence;
  #outer;
  #giveUp = () => this.#abort.abort();

  /**
   * @param {string} url
   * @param {number} silence milliseconds
   * @param {AbortSignal} [outer] gives it up as well
   */
  constructor(url, silence, outer) {
    this.url = url;
    this.#silence = silence;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#giveUp);
    if (outer?.aborted) this.#giveUp();
  }

  get signal() {
    return this.#abort.signal;
  }

  /** Close the connection. */
  end() {
    this.#outer?.removeEventListener("abort", this.#giveUp);
    this.#giveUp();
  }

  /**
   * The result of a step, which must not take too long.
   * @template T
   * @param {Promise<T>} step
   * @returns {Promise<T>}
   */
  async watched(step) {
    let timer = 0;
    /** @type {Promise<never>} */
    const silence = new Promise((_, reject) => {
      const wait = () => {
        const due = performance.now() + this.#silence;
        timer = setTimeout(() => {
          // Late: this thread was busy, or the computer asleep, while bytes may have arrived.
          if (performance.now() > due + LATE_MS) wait();
          else reject(silent(this.url, this.#silence / 1000));
        }, this.#silence);
      };
      wait();
    });
    try {
      return await Promise.race([step, silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** @param {string} url @param {number} seconds */
const silent = (url, seconds) =>
  new LoadError(`${nameOf(url)}: nothing has arrived for ${seconds} s.`, {
    code: "silent",
    values: { file: nameOf(url), seconds },
    isSilence: true,
  });

/**
 * The server's own words if it refuses in a sentence, as it does.
 * @param {Response} response
 * @param {string} url
 */
async function refusal(response, url) {
  const type = response.headers.get("Content-Type") ?? "text/plain";
  const words = type.startsWith("text/plain") ? (await response.text()).trim() : "";
  const { status, statusText } = response;
  const answer = (words || `${status} ${statusText}`.trim()).replace(/\.$/, "");
  return new LoadError(`${nameOf(url)}: the server answers ${answer}.`, {
    code: "refused",
    values: { file: nameOf(url), answer },
    status,
  });
}

/** @param {unknown} error @param {string} url @returns {LoadError} */
export function asLoadError(error, url) {
  if (error instanceof LoadError) return error;
  const isOffline = globalThis.navigator?.onLine === false;
  const reason = isOffline
    ? "this computer is offline"
    : "the server cannot be reached, or the connection broke";
  return new LoadError(`${nameOf(url)}: ${reason}.`, {
    code: isOffline ? "offline" : "unreachable",
    values: { file: nameOf(url) },
  });
}

/** An event "now" ends all pauses. */
export const hurry = new EventTarget();

/** Wait, but no longer than until the computer is online again. @param {number} milliseconds @param {AbortSignal} [signal] */
async function rest(milliseconds, signal) {
  let end = performance.now() + milliseconds;
  const go = () => (end = 0);
  hurry.addEventListener("now", go);
  try {
    while (performance.now() < end) {
      const wasOffline = !navigator.onLine;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      signal?.throwIfAborted();
      if (wasOffline && navigator.onLine) return;
    }
  } finally {
    hurry.removeEventListener("now", go);
  }
}

/** @param {string} url */
const pathOf = (url) => new URL(url, self.location.href).pathname;

/** The last part of the path. @param {string} url */
const nameOf = (url) => pathOf(url).split("/").at(-1) || url;

/** @param {ArrayBuffer} buffer */
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
