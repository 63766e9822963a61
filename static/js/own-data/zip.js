/**
 * ZIP archives: PKWARE's APPNOTE without encryption, parts, and sizes of 4 GB or more. An archive is
 * read from its directory at the end, a file at a time, and never more than the directory says.
 */

import { DataProblem } from "./problem.js";

/**
 * @typedef {{name: string, size: number, packed: number, method: number, crc: number, at: number,
 *            isEncrypted: boolean}} Entry
 */

const END = 0x06054b50;
const MEMBER = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
/** The end may be followed by a comment. */
const MOST_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;
const MOST_ENTRIES = 65_534;

/**
 * The files in an archive.
 * @param {Blob} blob
 * @param {string} name for messages
 * @returns {Promise<Entry[]>}
 * @throws {DataProblem}
 */
export async function listZip(blob, name) {
  const tail = await viewOf(blob, Math.max(0, blob.size - END_BYTES - MOST_COMMENT), blob.size);
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new DataProblem(`${name} is not a ZIP archive, or it is truncated. Pack the files again.`);
  const count = tail.getUint16(end + 10, true);
  const [size, start] = [tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
  if (count > MOST_ENTRIES || start === 0xffffffff) {
    throw new DataProblem(`${name} is too large a ZIP archive for this page. Pack a part of the files.`);
  }
  const directory = await viewOf(blob, start, start + size);
  /** @type {Entry[]} */
  const entries = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > directory.byteLength || directory.getUint32(at, true) !== MEMBER) throw damaged(name);
    const lengths = [28, 30, 32].map((place) => directory.getUint16(at + place, true));
    const path = new Uint8Array(directory.buffer, directory.byteOffset + at + 46, Math.min(lengths[0], directory.byteLength - at - 46));
    entries.push({
      name: new TextDecoder().decode(path),
      isEncrypted: (directory.getUint16(at + 8, true) & 1) === 1,
      method: directory.getUint16(at + 10, true),
      crc: directory.getUint32(at + 16, true),
      packed: directory.getUint32(at + 20, true),
      size: directory.getUint32(at + 24, true),
      at: directory.getUint32(at + 42, true),
    });
    at += 46 + lengths[0] + lengths[1] + lengths[2];
  }
  return entries.filter((entry) => !entry.name.endsWith("/"));
}

/**
 * The content of a file in an archive.
 * @param {Blob} blob
 * @param {Entry} entry
 * @param {number} most bytes; a file that unpacks to more is refused
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {DataProblem}
 */
export async function readEntry(blob, entry, most) {
  const { name, method, size, packed, at } = entry;
  if (entry.isEncrypted) throw new DataProblem(`${name} is encrypted. Pack it without a password.`);
  if (size > most) throw new DataProblem(`${name} unpacks to ${size} bytes, more than the ${most} allowed.`);
  if (method !== STORED && method !== DEFLATED) throw new DataProblem(`${name} is packed in a way (${method}) that browsers cannot unpack. Pack it as an ordinary ZIP.`);
  const local = await viewOf(blob, at, at + 30);
  if (local.byteLength < 30 || local.getUint32(0, true) !== LOCAL) throw damaged(name);
  const start = at + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  const content = blob.slice(start, start + packed);
  if (content.size !== packed) throw damaged(name);
  const bytes = method === STORED && packed === size
    ? new Uint8Array(await content.arrayBuffer())
    : await inflate(content, size, name);
  if (bytes.length !== size || crc32(bytes) !== entry.crc) throw damaged(name);
  return bytes;
}

/** @param {Blob} content @param {number} size that it should have @param {string} name */
async function inflate(content, size, name) {
  const bytes = new Uint8Array(size);
  let length = 0;
  const reader = content.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      // A bomb: more than the directory says. What follows is not unpacked.
      if (length + value.length > size) throw new DataProblem(`${name} unpacks to more than the archive says. It is damaged, or made to do harm.`);
      bytes.set(value, length);
      length += value.length;
    }
  } catch (failure) {
    reader.cancel().catch(() => {});
    throw failure instanceof DataProblem ? failure : damaged(name);
  }
  if (length !== size) throw damaged(name);
  return bytes;
}

/** @param {string} name */
const damaged = (name) => new DataProblem(`${name} is damaged. Pack it again.`);

/** @param {Blob} blob @param {number} from @param {number} to */
async function viewOf(blob, from, to) {
  return new DataView(await blob.slice(from, to).arrayBuffer());
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let value = 0xffffffff;
  for (let at = 0; at < bytes.length; at += 1) value = TABLE[(value ^ bytes[at]) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/**
 * An archive of files as they are, without compression.
 * @param {{name: string, bytes: Uint8Array}[]} files
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function writeZip(files) {
  const names = files.map(({ name }) => new TextEncoder().encode(name));
  const locals = files.reduce((sum, { bytes }, index) => sum + 30 + names[index].length + bytes.length, 0);
  const directory = names.reduce((sum, name) => sum + 46 + name.length, 0);
  const result = new Uint8Array(locals + directory + END_BYTES);
  const view = new DataView(result.buffer);
  let at = 0;
  let member = locals;
  files.forEach(({ bytes }, index) => {
    const name = names[index];
    // Version 2.0, no flags, stored, 1 January 1980; then checksum, sizes, length of the name.
    const common = [[20, 0, STORED, 0, 0x21], [crc32(bytes), bytes.length, bytes.length], [name.length, 0]];
    view.setUint32(at, LOCAL, true);
    writeFields(view, at + 4, common);
    result.set(name, at + 30);
    result.set(bytes, at + 30 + name.length);
    view.setUint32(member, MEMBER, true);
    view.setUint16(member + 4, 20, true);
    writeFields(view, member + 6, common);
    view.setUint32(member + 42, at, true);
    result.set(name, member + 46);
    at += 30 + name.length + bytes.length;
    member += 46 + name.length;
  });
  view.setUint32(member, END, true);
  view.setUint16(member + 8, files.length, true);
  view.setUint16(member + 10, files.length, true);
  view.setUint32(member + 12, directory, true);
  view.setUint32(member + 16, locals, true);
  return result;
}

/** @param {DataView} view @param {number} at @param {number[][]} fields two bytes each, four bytes each, two bytes each */
function writeFields(view, at, [first, words, last]) {
  let place = at;
  for (const value of first) view.setUint16((place += 2) - 2, value, true);
  for (const value of words) view.setUint32((place += 4) - 4, value, true);
  for (const value of last) view.setUint16((place += 2) - 2, value, true);
}
