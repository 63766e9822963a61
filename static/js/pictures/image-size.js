/** The sizes of images from the headers of their files: a small file can hold billions of pixels. */

/** The most pixels of an image that is decoded. */
export const MOST_PIXELS = 64_000_000;

/** @typedef {[width: number, height: number]} ImageSize */

/** Readers by the first bytes of a file, as text. @type {[RegExp, (view: DataView) => ImageSize | null][]} */
const FORMATS = [
  [/^\x89PNG\r\n\x1a\n/, (view) => [view.getUint32(16), view.getUint32(20)]],
  [/^GIF8[79]a/, gif],
  [/^\xff\xd8\xff/, jpeg],
  [/^RIFF[^]{4}WEBP/, webp],
  [/^BM/, bmp],
];

/**
 * The width and height that a browser would decode; null if the file is not an image of a known
 * format, or is damaged.
 * @param {Uint8Array} bytes of the whole file
 * @returns {ImageSize | null}
 */
export function imageSize(bytes) {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  const read = FORMATS.find(([signature]) => signature.test(start))?.[1];
  try {
    return read?.(new DataView(bytes.buffer, bytes.byteOffset, bytes.length)) ?? null;
  } catch {
    return null; // it ends early
  }
}

/** The first frame, which may be larger than the screen that the header announces. @param {DataView} view @returns {ImageSize | null} */
function gif(view) {
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  const colours = view.getUint8(10);
  let at = 13 + (colours & 0x80 ? 3 << ((colours & 7) + 1) : 0);
  for (; view.getUint8(at) === 0x21; at += 1) {
    at += 2;
    while (view.getUint8(at) > 0) at += 1 + view.getUint8(at);
  }
  if (view.getUint8(at) !== 0x2c) return null;
  const [left, top, frameWidth, frameHeight] = [1, 3, 5, 7].map((offset) =>
    view.getUint16(at + offset, true),
  );
  return [Math.max(width, left + frameWidth), Math.max(height, top + frameHeight)];
}

/** The header of the first frame, after any number of other segments. @param {DataView} view @returns {ImageSize | null} */
function jpeg(view) {
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    if (marker === 0xff)
      at += 1; // fill
    else at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** @param {DataView} view @returns {ImageSize | null} */
function webp(view) {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  if (kind === "VP8X") return [1 + uint24(view, 24), 1 + uint24(view, 27)];
  if (kind === "VP8 ")
    return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (kind !== "VP8L" || view.getUint8(20) !== 0x2f) return null;
  const bits = view.getUint32(21, true);
  return [1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff)];
}

/** @param {DataView} view @param {number} at */
const uint24 = (view, at) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);

/** @param {DataView} view @returns {ImageSize | null} */
function bmp(view) {
  if (view.getUint32(14, true) === 12) return [view.getUint16(18, true), view.getUint16(20, true)];
  return [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))];
}
