/**
 * ZIP archives in memory (APPNOTE 6.3.10): files are stored as they are, and read stored or deflated.
 * Archives of more than 4 GB, encrypted ones and those in several volumes are refused.
 */

import { through } from "./streams.js";

/** An archive that cannot be read. `kind`: "foreign" for a file of another kind, "cut", or "damaged". */
export class ZipError extends Error {
  /** @param {"foreign" | "cut" | "damaged"} kind @param {string} message */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/**
 * @typedef {{name: string, method: number, crc: number, packed: number, size: number, at: number}} Entry
 *   `packed` and `size`: bytes before and after decompression; `at`: of its local header
 */

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
/** An archive may end with a comment of this length. */
const LONGEST_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;
const VERSION_NEEDED = 20;
/** Bits of the flags: encrypted, and names in UTF-8. */
const ENCRYPTED = 1;
const UTF8 = 1 << 11;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

/** The checksum of an entry. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at += 1) crc = CRC_TABLE[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/**
 * @param {Map<string, Uint8Array<ArrayBuffer>>} files contents by name, in their order
 * @param {Date} when they were written
 * @returns {Blob}
 */
export function zipped(files, when) {
  const [time, date] = dosTime(when);
  /** @type {BlobPart[]} */
  const parts = [];
  /** @type {BlobPart[]} */
  const directory = [];
  let at = 0;
  let directoryBytes = 0;
  for (const [name, bytes] of files) {
    const encoded = new TextEncoder().encode(name);
    // The fields that both headers have, from the version on.
    const fields = new DataView(new ArrayBuffer(26));
    [VERSION_NEEDED, UTF8, STORED, time, date].forEach((value, index) => fields.setUint16(2 * index, value, true));
    [crc32(bytes), bytes.length, bytes.length].forEach((value, index) => fields.setUint32(10 + 4 * index, value, true));
    fields.setUint16(22, encoded.length, true);
    const rest = new DataView(new ArrayBuffer(14)); // no comment, first volume, no attributes
    rest.setUint32(10, at, true);
    parts.push(number(LOCAL), fields, encoded, bytes);
    directory.push(number(CENTRAL), halves(VERSION_NEEDED), fields, rest, encoded);
    at += LOCAL_BYTES + encoded.length + bytes.length;
    directoryBytes += CENTRAL_BYTES + encoded.length;
  }
  const end = [halves(0, 0, files.size, files.size), number(directoryBytes), number(at), halves(0)];
  return new Blob([...parts, ...directory, number(END), ...end]);
}

/** @param {number} value */
function number(value) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, value, true);
  return view;
}

/** @param {...number} values of 16 bits */
function halves(...values) {
  const view = new DataView(new ArrayBuffer(2 * values.length));
  values.forEach((value, index) => view.setUint16(2 * index, value, true));
  return view;
}

/** Time and date as MS-DOS counts them, since 1980. @param {Date} when */
function dosTime(when) {
  const year = Math.min(Math.max(when.getFullYear(), 1980), 2107);
  return [
    (when.getHours() << 11) | (when.getMinutes() << 5) | (when.getSeconds() >> 1),
    ((year - 1980) << 9) | ((when.getMonth() + 1) << 5) | when.getDate(),
  ];
}

export class ZipReader {
  #blob;
  #entries;

  /** @param {Blob} blob @param {Map<string, Entry>} entries */
  constructor(blob, entries) {
    this.#blob = blob;
    this.#entries = entries;
  }

  /** Read the table of contents, and nothing else. @param {Blob} blob @returns {Promise<ZipReader>} @throws {ZipError} */
  static async open(blob) {
    const tailAt = Math.max(0, blob.size - END_BYTES - LONGEST_COMMENT);
    const tail = await view(blob, tailAt, blob.size);
    let end = tail.byteLength - END_BYTES;
    while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
    if (end < 0) {
      const head = await view(blob, 0, 4);
      if (head.byteLength === 4 && head.getUint32(0, true) === LOCAL) throw new ZipError("cut", "its end is missing");
      throw new ZipError("foreign", "it is not a zip archive");
    }
    const count = tail.getUint16(end + 10, true);
    const size = tail.getUint32(end + 12, true);
    const at = tail.getUint32(end + 16, true);
    if (at + size > tailAt + end) throw new ZipError("cut", "a part of it is missing");
    return new ZipReader(blob, contents(await view(blob, at, at + size), count));
  }

  get names() {
    return [...this.#entries.keys()];
  }

  /** Bytes of all files, as the table of contents says. */
  get size() {
    return [...this.#entries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** @param {string} name @returns {Promise<Uint8Array<ArrayBuffer>>} @throws {ZipError} */
  async read(name) {
    const entry = this.#entries.get(name);
    if (!entry) throw new ZipError("damaged", `${name} is missing`);
    const { at, packed, method, size, crc } = entry;
    const header = await view(this.#blob, at, at + LOCAL_BYTES);
    if (header.byteLength < LOCAL_BYTES || header.getUint32(0, true) !== LOCAL) throw damaged(name);
    const begin = at + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
    const content = this.#blob.slice(begin, begin + packed);
    if (content.size !== packed) throw damaged(name);
    const bytes = method === STORED ? new Uint8Array(await content.arrayBuffer()) : await inflated(content, name, size);
    if (bytes.length !== size || crc32(bytes) !== crc) throw damaged(name);
    return bytes;
  }
}

/** @param {string} name */
const damaged = (name) => new ZipError("damaged", `${name} is damaged`);

/** @param {Blob} content @param {string} name @param {number} size */
async function inflated(content, name, size) {
  try {
    return await through(content, new DecompressionStream("deflate-raw"), size);
  } catch {
    throw damaged(name);
  }
}

/** @param {DataView} directory @param {number} count @returns {Map<string, Entry>} @throws {ZipError} */
function contents(directory, count) {
  const entries = new Map();
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + CENTRAL_BYTES > directory.byteLength || directory.getUint32(at, true) !== CENTRAL) {
      throw new ZipError("damaged", "its table of contents is damaged");
    }
    const [flags, method] = [directory.getUint16(at + 8, true), directory.getUint16(at + 10, true)];
    const [crc, packed, size] = [16, 20, 24].map((offset) => directory.getUint32(at + offset, true));
    const [nameBytes, extra, comment] = [28, 30, 32].map((offset) => directory.getUint16(at + offset, true));
    const end = at + CENTRAL_BYTES + nameBytes;
    if (end > directory.byteLength) throw new ZipError("damaged", "its table of contents is damaged");
    const encoded = new Uint8Array(directory.buffer, directory.byteOffset + at + CENTRAL_BYTES, nameBytes);
    const name = new TextDecoder().decode(encoded);
    if (flags & ENCRYPTED || (method !== STORED && method !== DEFLATED)) {
      throw new ZipError("foreign", "it is encrypted or compressed in an unusual way");
    }
    if (entries.has(name)) throw new ZipError("damaged", "two files in it have the same name");
    entries.set(name, { name, method, crc, packed, size, at: directory.getUint32(at + 42, true) });
    at = end + extra + comment;
  }
  return entries;
}

/** @param {Blob} blob @param {number} from @param {number} to */
const view = async (blob, from, to) => new DataView(await blob.slice(from, to).arrayBuffer());
