/**
 * ZIP archives (APPNOTE 6.3.10): files are stored as they are, and read stored or deflated. An archive is
 * read by its directory, one file at a time; a file that cannot be read takes no other with it. Archives
 * of more than 4 GB are refused.
 */

import { t } from "../words/locale.js";
import { piped } from "../state/streams.js";

/**
 * @typedef {"foreign" | "cut" | "large" | "damaged" | "encrypted" | "method" | "limit" | "bomb"} ZipProblem
 *   of an archive: "foreign", a file of another kind; "cut"; "large", made as archives of over 4 GB are;
 *   of it or a file in it: "damaged"; of a file in it: "encrypted"; "method", packed in an unusual way;
 *   "limit", larger than the reader allows; "bomb", unpacks to more than the directory says
 */

/** An archive, or a file in one, that cannot be read. Callers put it into words that suit their readers. */
export class ZipError extends Error {
  /** @param {ZipProblem} kind @param {string} message */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/**
 * @typedef {{name: string, isEncrypted: boolean, method: number, crc: number, packed: number, size: number,
 *            at: number}} Entry
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
/** Values that stand for larger ones, which are elsewhere (ZIP64). */
const MANY = 0xffff;
const FAR = 0xffffffff;
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
  for (let at = 0; at < bytes.length; at += 1)
    crc = CRC_TABLE[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
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
    [VERSION_NEEDED, UTF8, STORED, time, date].forEach((value, index) =>
      fields.setUint16(2 * index, value, true),
    );
    [crc32(bytes), bytes.length, bytes.length].forEach((value, index) =>
      fields.setUint32(10 + 4 * index, value, true),
    );
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

  /** @param {Blob} blob @param {Entry[]} entries */
  constructor(blob, entries) {
    this.#blob = blob;
    /** The files, without directories. @readonly */
    this.entries = entries;
  }

  /** Read the directory, and nothing else. @param {Blob} blob @returns {Promise<ZipReader>} @throws {ZipError} */
  static async open(blob) {
    const tailAt = Math.max(0, blob.size - END_BYTES - LONGEST_COMMENT);
    const tail = await view(blob, tailAt, blob.size);
    let end = tail.byteLength - END_BYTES;
    while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
    if (end < 0) {
      const head = await view(blob, 0, 4);
      if (head.byteLength === 4 && head.getUint32(0, true) === LOCAL)
        throw new ZipError("cut", t().projectFile.zip.noEnd);
      throw new ZipError("foreign", "it is not a zip archive");
    }
    const count = tail.getUint16(end + 10, true);
    const size = tail.getUint32(end + 12, true);
    const at = tail.getUint32(end + 16, true);
    if (count === MANY || at === FAR)
      throw new ZipError("large", "it is made as archives of over 4 GB are");
    if (at + size > tailAt + end) throw new ZipError("cut", t().projectFile.zip.partMissing);
    const entries = listed(await view(blob, at, at + size), count);
    return new ZipReader(
      blob,
      entries.filter(({ name }) => !name.endsWith("/")),
    );
  }

  get names() {
    return this.entries.map(({ name }) => name);
  }

  /** Bytes of all files, as the directory says. */
  get size() {
    return this.entries.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * @param {string | Entry} file
   * @param {number} [most] bytes of the result
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {ZipError}
   */
  async read(file, most = Infinity) {
    const { name, isEncrypted, at, packed, method, size, crc } =
      typeof file === "string" ? this.#named(file) : file;
    if (isEncrypted) throw new ZipError("encrypted", `${name} is encrypted`);
    if (size > most) throw new ZipError("limit", `${name} has ${size} bytes`);
    if (method !== STORED && method !== DEFLATED)
      throw new ZipError("method", `${name} is packed in an unusual way`);
    const header = await view(this.#blob, at, at + LOCAL_BYTES);
    if (header.byteLength < LOCAL_BYTES || header.getUint32(0, true) !== LOCAL) throw damaged(name);
    const begin = at + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
    const content = this.#blob.slice(begin, begin + packed);
    if (content.size !== packed || (method === STORED && packed !== size)) throw damaged(name);
    const bytes =
      method === STORED
        ? new Uint8Array(await content.arrayBuffer())
        : await inflated(content, name, size);
    if (crc32(bytes) !== crc) throw damaged(name);
    return bytes;
  }

  /** @param {string} name @returns {Entry} @throws {ZipError} */
  #named(name) {
    const [entry, ...others] = this.entries.filter((each) => each.name === name);
    if (!entry) throw new ZipError("damaged", t().projectFile.zip.missing(name));
    if (others.length > 0) throw new ZipError("damaged", t().projectFile.zip.twice(name));
    return entry;
  }
}

/** @param {string} name */
const damaged = (name) => new ZipError("damaged", t().projectFile.zip.damaged(name));

/** @param {Blob} content @param {string} name @param {number} size that it should have @throws {ZipError} */
async function inflated(content, name, size) {
  const bytes = new Uint8Array(size);
  let length = 0;
  try {
    for await (const part of piped(content, new DecompressionStream("deflate-raw"))) {
      // What follows is not unpacked.
      if (length + part.length > size) throw new ZipError("bomb", t().projectFile.zip.bomb(name));
      bytes.set(part, length);
      length += part.length;
    }
  } catch (problem) {
    throw problem instanceof ZipError ? problem : damaged(name);
  }
  if (length !== size) throw damaged(name);
  return bytes;
}

/** @param {DataView} directory @param {number} count @returns {Entry[]} @throws {ZipError} */
function listed(directory, count) {
  const entries = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + CENTRAL_BYTES > directory.byteLength || directory.getUint32(at, true) !== CENTRAL) {
      throw new ZipError("damaged", t().projectFile.zip.damagedTable);
    }
    const [flags, method] = [directory.getUint16(at + 8, true), directory.getUint16(at + 10, true)];
    const [crc, packed, size, header] = [16, 20, 24, 42].map((offset) =>
      directory.getUint32(at + offset, true),
    );
    const [nameBytes, extra, comment] = [28, 30, 32].map((offset) =>
      directory.getUint16(at + offset, true),
    );
    const end = at + CENTRAL_BYTES + nameBytes;
    if (end > directory.byteLength) throw new ZipError("damaged", t().projectFile.zip.damagedTable);
    const encoded = new Uint8Array(
      directory.buffer,
      directory.byteOffset + at + CENTRAL_BYTES,
      nameBytes,
    );
    entries.push({
      name: new TextDecoder().decode(encoded),
      isEncrypted: (flags & ENCRYPTED) !== 0,
      method,
      crc,
      packed,
      size,
      at: header,
    });
    at = end + extra + comment;
  }
  return entries;
}

/** @param {Blob} blob @param {number} from @param {number} to */
const view = async (blob, from, to) => new DataView(await blob.slice(from, to).arrayBuffer());
