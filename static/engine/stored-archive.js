/** The files in a zip archive that the server has made: uncompressed, since its transfer is compressed as a whole. */

const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

/**
 * @param {Uint8Array<ArrayBuffer>} archive without a comment at its end
 * @returns {[path: string, content: Uint8Array<ArrayBuffer>][]} without folders
 * @throws {Error} it is of another kind, or has compressed files
 */
export function filesIn(archive) {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.length);
  const end = archive.length - END_BYTES;
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error("it is not a zip archive");
  /** @type {[string, Uint8Array<ArrayBuffer>][]} */
  const files = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== CENTRAL) throw new Error("the archive is damaged");
    const half = (/** @type {number} */ offset) => view.getUint16(at + offset, true);
    const [named, extra, comment] = [28, 30, 32].map(half);
    const size = view.getUint32(at + 24, true);
    const local = view.getUint32(at + 42, true);
    const first = at + CENTRAL_BYTES;
    const name = new TextDecoder().decode(archive.subarray(first, first + named));
    if (half(10) !== 0) throw new Error(`${name} is compressed in the archive`);
    const start =
      local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (!name.endsWith("/")) files.push([name, archive.subarray(start, start + size)]);
    at = first + named + extra + comment;
  }
  return files;
}
