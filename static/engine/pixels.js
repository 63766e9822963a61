/**
 * A code for grey images of drawn strokes, such as MNIST's: a fifth smaller than Brotli
 * (docs/decisions/059-a-page-fetches-what-it-needs.md).
 *
 * Each pixel is some yes-or-no decisions: Is it 0? Is it one of the brightest, and which? Otherwise
 * its eight bits. The probability of each is learnt while the images pass, in two contexts of
 * neighbours that were there before, and averaged. An arithmetic coder, whose range has 31 bits so
 * that engines compute in integers, takes the decisions and the probabilities. All is in integers:
 * the same everywhere.
 *
 * The images are divided into parts that are coded for themselves, so that several workers can
 * unpack a file, while it arrives. It has: MAGIC; count, rows and columns (uint32, big endian); SHA-256 of the IDX file;
 * the size of each part's code (uint32); the codes.
 */

const MAGIC = [0x50, 0x47, 0x70, 0x79]; // PGpy
const HASH = 32;
/** Parts of a file. The last one is unpacked after all have arrived; each has to learn anew. */
export const PARTS = 16;
/** Fewer images make no part, unless there are no more: the parts after them are empty. */
const LEAST_IMAGES = 3000;
/** Bytes before the codes. */
export const HEAD = MAGIC.length + 12 + HASH + 4 * PARTS;
/** Of an IDX file: its kind (bytes in three dimensions), count, rows and columns. */
const IDX_KIND = 0x00000803;
const IDX_HEAD = 16;
const MOST_SIDE = 256;
const MOST_BYTES = 1 << 28;

/** The type with which a server sends it. Servers and browsers keep copies: another code needs another type and MAGIC, and the server another ending. */
export const PIXELS = "application/vnd.playgrad.pixels-16";

/** A range is made longer below this. */
const SHORT = 1 << 23;
const WHOLE = 0x7fffffff;
/** Probabilities have 16 bits where they are learnt and 12 where they are used. */
const HALF = 1 << 15;
/** A probability is learnt from so many decisions as their mean, and then from as many of the last ones. */
const MOST_SEEN = 250;
/** The weight of a decision after so many others, of 2 ** 15. */
const WEIGHTS = Int32Array.from({ length: MOST_SEEN + 1 }, (_, seen) => 32768 / (seen + 1.6));

/** From here on a pixel is one of the brightest; in the order in which they are asked for. */
const BRIGHT = 251;
const BRIGHTEST = [253, 254, 252, 255];
/** Neighbours in steps: seven, and four. */
const FINE = Uint8Array.from({ length: 256 }, (_, value) =>
  [1, 32, 96, 160, 224, BRIGHT].reduce((step, from) => step + Number(value >= from), 0),
);
const COARSE = Uint8Array.from({ length: 256 }, (_, value) =>
  [1, 128, BRIGHT].reduce((step, from) => step + Number(value >= from), 0),
);

/** Probabilities of a decision by context: 16 bits, and how many were seen in 8. @param {number} contexts */
const learner = (contexts) => new Int32Array(contexts).fill(HALF << 8);

/**
 * Update a probability. @param {Int32Array} table @param {number} at @param {number} bit
 */
function learn(table, at, bit) {
  const seen = table[at] & 255;
  const before = table[at] >> 8;
  const after = before + (Math.imul((-bit & 65535) - before, WEIGHTS[seen]) >> 15);
  table[at] = (after << 8) | (seen < MOST_SEEN ? seen + 1 : seen);
}

/** @typedef {{code(bit: number, chance: number): number}} Coder takes or returns a decision; `chance` of 1, of 4096 */

/** A decision in two contexts. @param {Coder} coder @param {Int32Array} one @param {number} i @param {Int32Array} other @param {number} j @param {number} bit */
function decide(coder, one, i, other, j, bit) {
  const mean = ((one[i] >> 8) + (other[j] >> 8)) >> 5;
  const made = coder.code(bit, mean < 1 ? 1 : mean > 4095 ? 4095 : mean);
  learn(one, i, made);
  learn(other, j, made);
  return made;
}

/** A decision in one context. @param {Coder} coder @param {Int32Array} table @param {number} at @param {number} bit */
function decideOnce(coder, table, at, bit) {
  const mean = table[at] >> 12;
  const made = coder.code(bit, mean < 1 ? 1 : mean > 4095 ? 4095 : mean);
  learn(table, at, made);
  return made;
}

/**
 * Pass all images through a coder: a decoder writes the pixels that an encoder reads.
 * @param {Coder} coder @param {Uint8Array} pixels @param {number} count @param {number} rows @param {number} columns
 */
function pass(coder, pixels, count, rows, columns) {
  const places = learner(rows * columns);
  const which = [learner(6 ** 4 * 4), learner(6 ** 4 * 4)];
  const high = [learner(7 ** 4 * 16), learner(16 ** 3 * 16)];
  const low = [learner(49 * 256), learner(256)];
  const [zero1, zero2, bright1, bright2] = [4 ** 7, 7 ** 4 * 16, 4 ** 7, 7 ** 4 * 16].map(learner);
  // An image in a frame of zeros: two rows above, two columns on each side.
  const stride = columns + 4;
  const frame = new Uint8Array((rows + 2) * stride);
  for (let image = 0, at = 0; image < count; image++) {
    frame.fill(0);
    let recent = 0; // the last four of the brightest, in the digits of base 6
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at++) {
        const here = (row + 2) * stride + column + 2;
        const w = frame[here - 1];
        const ww = frame[here - 2];
        const n = frame[here - stride];
        const ne = frame[here - stride + 1];
        const nee = frame[here - stride + 2];
        const nw = frame[here - stride - 1];
        const nn = frame[here - 2 * stride];
        const value = pixels[at];
        if ((w | ww | n | ne | nee | nw | nn) === 0) {
          const place = row * columns + column;
          if (decideOnce(coder, places, place, value === 0 ? 1 : 0)) {
            pixels[at] = 0;
            continue;
          }
        }
        const coarse =
          COARSE[w] +
          4 * COARSE[n] +
          16 * COARSE[ne] +
          64 * COARSE[nw] +
          256 * COARSE[ww] +
          1024 * COARSE[nn] +
          4096 * COARSE[nee];
        const beside = FINE[w] + 7 * FINE[n];
        const fine = beside + 49 * FINE[ne] + 343 * FINE[nw];
        const both = fine + 2401 * (COARSE[nn] + 4 * COARSE[ww]);
        if (coarse !== 0 && decide(coder, zero1, coarse, zero2, both, value === 0 ? 1 : 0)) {
          pixels[at] = 0;
          continue;
        }
        let found = 0;
        if (decide(coder, bright1, coarse, bright2, both, value >= BRIGHT ? 1 : 0)) {
          found = BRIGHT;
          const left = w < BRIGHT ? 0 : w - BRIGHT + 1;
          const above = n < BRIGHT ? 0 : n - BRIGHT + 1;
          const near = 4 * (left + 6 * above + 36 * (recent % 36));
          for (let index = 0; index < 4; index++) {
            const each = BRIGHTEST[index];
            if (
              decide(
                coder,
                which[0],
                near + index,
                which[1],
                4 * recent + index,
                value === each ? 1 : 0,
              )
            ) {
              found = each;
              break;
            }
          }
          recent = (recent % 216) * 6 + found - BRIGHT + 1;
        } else {
          const above = (w >> 4) + 16 * (n >> 4) + 256 * (ne >> 4);
          let node = 1;
          for (let bit = 7; bit >= 4; bit--)
            node =
              2 * node +
              decide(
                coder,
                high[0],
                16 * fine + node,
                high[1],
                16 * above + node,
                (value >> bit) & 1,
              );
          for (let bit = 3; bit >= 0; bit--)
            node =
              2 * node +
              decide(coder, low[0], 256 * beside + node, low[1], node, (value >> bit) & 1);
          found = node & 255;
        }
        pixels[at] = frame[here] = found;
      }
    }
  }
}

class Decoder {
  #bytes;
  #at = 0;
  #range = WHOLE;
  #code = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
    for (let index = 0; index < 5; index++) this.#code = (this.#code << 8) | this.#next(); // the first is 0
  }

  #next() {
    return this.#at < this.#bytes.length ? this.#bytes[this.#at++] : 0;
  }

  /** @param {number} _bit @param {number} chance */
  code(_bit, chance) {
    const bound = (this.#range >>> 12) * chance;
    const made = this.#code < bound ? 1 : 0;
    if (made) this.#range = bound;
    else {
      this.#code -= bound;
      this.#range -= bound;
    }
    while (this.#range < SHORT) {
      this.#range <<= 8;
      this.#code = (this.#code << 8) | this.#next();
    }
    return made;
  }
}

class Encoder {
  /** @type {number[]} */
  bytes = [];
  #low = 0;
  #range = WHOLE;
  #held = 0; // a byte that a carry may still change, and how many of 255 follow it
  #full = 0;

  /** @param {number} bit @param {number} chance */
  code(bit, chance) {
    const bound = (this.#range >>> 12) * chance;
    if (bit) this.#range = bound;
    else {
      this.#low += bound;
      this.#range -= bound;
    }
    while (this.#range < SHORT) {
      this.#range <<= 8;
      this.#shift();
    }
    return bit;
  }

  #shift() {
    if (this.#low < 0xff000000 || this.#low > 0xffffffff) {
      const carry = this.#low > 0xffffffff ? 1 : 0;
      this.bytes.push((this.#held + carry) & 255);
      for (; this.#full > 0; this.#full--) this.bytes.push((255 + carry) & 255);
      this.#held = Math.floor(this.#low / 0x1000000) & 255;
    } else this.#full++;
    this.#low = (this.#low % 0x1000000) * 256;
  }

  end() {
    for (let index = 0; index < 5; index++) this.#shift();
    return Uint8Array.from(this.bytes);
  }
}

/** @param {Uint8Array} bytes of a file */
export const isPacked = (bytes) => MAGIC.every((byte, index) => bytes[index] === byte);

/**
 * @param {Uint8Array<ArrayBuffer>} idx a file of images as the data sets have it
 * @returns {Promise<Uint8Array>}
 * @throws {Error} it is no such file
 */
export async function pack(idx) {
  const view = new DataView(idx.buffer, idx.byteOffset, idx.length);
  if (idx.length < IDX_HEAD || view.getUint32(0) !== IDX_KIND)
    throw new Error("not an IDX file of bytes in three dimensions");
  const [count, rows, columns] = [4, 8, 12].map((at) => view.getUint32(at));
  const size = sizeOf(count, rows, columns);
  if (idx.length !== IDX_HEAD + size)
    throw new Error(`${count} images of ${rows} × ${columns} pixels are not ${idx.length} bytes`);
  const codes = Array.from({ length: PARTS }, (_, part) => {
    const encoder = new Encoder();
    const [from, to] = imagesOf(part, count);
    const pixels = idx.slice(IDX_HEAD + from * rows * columns, IDX_HEAD + to * rows * columns);
    pass(encoder, pixels, to - from, rows, columns);
    return encoder.end();
  });
  const file = new Uint8Array(HEAD + codes.reduce((sum, { length }) => sum + length, 0));
  file.set(MAGIC);
  file.set(idx.subarray(4, IDX_HEAD), MAGIC.length);
  file.set(new Uint8Array(await crypto.subtle.digest("SHA-256", idx)), MAGIC.length + 12);
  let at = HEAD;
  codes.forEach((code, part) => {
    new DataView(file.buffer).setUint32(HEAD + 4 * (part - PARTS), code.length);
    file.set(code, at);
    at += code.length;
  });
  return file;
}

/** The images of a part: from the first to before the second. @param {number} part @param {number} count */
const imagesOf = (part, count) => {
  const most = Math.max(LEAST_IMAGES, Math.ceil(count / PARTS));
  return [part, part + 1].map((each) => Math.min(count, each * most));
};

/**
 * What a packed file says of the IDX file.
 * @param {Uint8Array} file of which the head is enough
 * @returns {{count: number, rows: number, columns: number, size: number, hash: Uint8Array}} `size` in bytes; `hash`: SHA-256
 * @throws {Error} it is cut, or has too many pixels
 */
export function headOf(file) {
  if (file.length < HEAD || !isPacked(file)) throw new Error("not a file of packed images");
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const [count, rows, columns] = [0, 4, 8].map((at) => view.getUint32(MAGIC.length + at));
  const size = IDX_HEAD + sizeOf(count, rows, columns);
  const hash = file.slice(MAGIC.length + 12, MAGIC.length + 12 + HASH);
  return { count, rows, columns, size, hash };
}

/**
 * Where the codes of the parts are in a file: from the first byte to before the second.
 * @param {Uint8Array} file of which the head is enough
 * @returns {[from: number, to: number][]}
 */
export function partsOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  let at = HEAD;
  return Array.from({ length: PARTS }, (_, part) => {
    const from = at;
    at += view.getUint32(HEAD + 4 * (part - PARTS));
    return [from, at];
  });
}

/**
 * Unpack a part of the images, with the head of the IDX file if it is the first.
 * @param {Uint8Array} head of the file
 * @param {number} part 0 to PARTS - 1
 * @param {Uint8Array} code of the part
 * @param {Uint8Array} idx where the IDX file is to be; it has its size
 * @throws {Error} the code is cut, or the file has too many pixels
 */
export function unpackPart(head, part, code, idx) {
  const { count, rows, columns } = headOf(head);
  const [begin, end] = partsOf(head)[part];
  if (code.length !== end - begin) throw new Error("a file of packed images is cut");
  if (part === 0) {
    new DataView(idx.buffer, idx.byteOffset).setUint32(0, IDX_KIND);
    idx.set(head.subarray(MAGIC.length, MAGIC.length + 12), 4);
  }
  const [from, to] = imagesOf(part, count).map((image) => IDX_HEAD + image * rows * columns);
  const decoder = new Decoder(code);
  pass(decoder, idx.subarray(from, to), (to - from) / (rows * columns || 1), rows, columns);
}

/** @param {number} count @param {number} rows @param {number} columns @returns {number} bytes of all pixels */
function sizeOf(count, rows, columns) {
  const size = count * rows * columns;
  if (Math.max(rows, columns) > MOST_SIDE || size > MOST_BYTES)
    throw new Error(`${count} images of ${rows} × ${columns} pixels are more than a page takes`);
  return size;
}
