/** NumPy's files of one array (NPY, versions 1 to 3), as `numpy.lib.format` documents them. */

import { t } from "../words/locale.js";
import { DataProblem } from "./problem.js";

/**
 * @typedef {Uint8Array | Int32Array | Float32Array} Numbers
 * @typedef {{values: Numbers, shape: number[]}} NumberArray 64-bit numbers are read into 32 bits;
 *   whole numbers that do not fit as float32
 * @typedef {{texts: string[], shape: number[]}} TextArray
 */

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const LINE = 64;

/** @typedef {(view: DataView, at: number, little: boolean) => number} Getter */
/** How numbers are read, by kind and size. @type {Record<string, Getter>} */
const GETTERS = {
  b1: (view, at) => view.getUint8(at),
  i1: (view, at) => view.getInt8(at),
  i2: (view, at, little) => view.getInt16(at, little),
  u2: (view, at, little) => view.getUint16(at, little),
  i4: (view, at, little) => view.getInt32(at, little),
  u4: (view, at, little) => view.getUint32(at, little),
  i8: (view, at, little) => Number(view.getBigInt64(at, little)),
  u8: (view, at, little) => Number(view.getBigUint64(at, little)),
  f4: (view, at, little) => view.getFloat32(at, little),
  f8: (view, at, little) => view.getFloat64(at, little),
};

/**
 * @param {Uint8Array} bytes
 * @param {string} name for messages
 * @returns {NumberArray | TextArray}
 * @throws {DataProblem}
 */
export function readNpy(bytes, name) {
  const words = t().dataFiles.arrays;
  if (bytes.length < 12 || MAGIC.some((byte, at) => bytes[at] !== byte))
    throw new DataProblem(words.notNumPy(name));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isShort = bytes[6] === 1;
  const start = isShort ? 10 : 12;
  const end = start + (isShort ? view.getUint16(8, true) : view.getUint32(8, true));
  const header = new TextDecoder("latin1").decode(bytes.slice(start, Math.min(end, bytes.length)));
  const type = /'descr':\s*'([<>|=]?)([a-zA-Z])(\d*)'/.exec(header);
  const sizes = /'shape':\s*\(([\d\s,L]*)\)/.exec(header);
  if (/'descr':\s*'\|?O/.test(header)) throw new DataProblem(words.objects(name));
  if (!type || !sizes) throw new DataProblem(words.records(name));
  const shape = (sizes[1].match(/\d+/g) ?? []).map(Number);
  const isFortran = /'fortran_order':\s*True/.test(header);
  const [, order, kind, digits] = type;
  const size = Number(digits) * (kind === "U" ? 4 : 1);
  const count = shape.reduce((a, b) => a * b, 1);
  if (!(size > 0)) throw new DataProblem(words.otherNumbers(name, kind + digits)); // no end of them
  if (!(end + count * size <= bytes.length))
    throw new DataProblem(words.truncated(name, end + count * size, bytes.length));
  const little = order !== ">";
  if (kind === "U") return { texts: textsOf(view, end, count, Number(digits), little), shape };
  const values = numbersOf(bytes, view, end, count, kind + digits, little);
  if (!values) throw new DataProblem(words.otherNumbers(name, kind + digits));
  return { values: isFortran ? inRows(values, shape) : values, shape };
}

/**
 * @param {Uint8Array} bytes @param {DataView} view @param {number} start @param {number} count
 * @param {string} type @param {boolean} little
 */
function numbersOf(bytes, view, start, count, type, little) {
  if (type === "u1") return bytes.slice(start, start + count);
  const get = GETTERS[type];
  if (!get) return null;
  const values = type[0] === "f" ? new Float32Array(count) : new Int32Array(count);
  const size = Number(type.slice(1));
  for (let index = 0; index < count; index += 1) {
    const value = get(view, start + index * size, little);
    values[index] = value;
    if (type[0] !== "f" && values[index] !== value)
      return Float32Array.from({ length: count }, (_, at) => get(view, start + at * size, little));
  }
  return values;
}

/** @param {DataView} view @param {number} start @param {number} count @param {number} length @param {boolean} little */
function textsOf(view, start, count, length, little) {
  return Array.from({ length: count }, (_, index) => {
    let text = "";
    for (let letter = 0; letter < length; letter += 1) {
      const code = view.getUint32(start + 4 * (index * length + letter), little);
      if (code === 0 || code > 0x10ffff) break;
      text += String.fromCodePoint(code);
    }
    return text;
  });
}

/** Reorder from columns first to rows first. @template {Numbers} T @param {T} values @param {number[]} shape @returns {T} */
function inRows(values, shape) {
  const result = /** @type {T} */ (values.slice());
  const position = shape.map(() => 0);
  for (let index = 0; index < values.length; index += 1) {
    let from = 0;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1)
      from = from * shape[axis] + position[axis];
    result[index] = values[from];
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      position[axis] += 1;
      if (position[axis] < shape[axis]) break;
      position[axis] = 0;
    }
  }
  return result;
}

/** @param {NumberArray | TextArray} array @returns {Uint8Array<ArrayBuffer>} */
export function writeNpy(array) {
  const [type, content] =
    "texts" in array ? encodeTexts(array.texts) : [typeOf(array.values), bytesOf(array.values)];
  const sizes = array.shape.length === 1 ? `${array.shape[0]},` : array.shape.join(", ");
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const length = Math.ceil((10 + text.length + 1) / LINE) * LINE - 10;
  const bytes = new Uint8Array(10 + length + content.length);
  bytes.set([...MAGIC, 1, 0, length & 255, length >> 8]);
  bytes.set(new TextEncoder().encode(`${text.padEnd(length - 1)}\n`), 10);
  bytes.set(content, 10 + length);
  return bytes;
}

/** @param {Numbers} values */
const typeOf = (values) =>
  values instanceof Uint8Array ? "|u1" : values instanceof Int32Array ? "<i4" : "<f4";

/** @param {Numbers} values */
const bytesOf = ({ buffer, byteOffset, byteLength }) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** @param {string[]} texts @returns {[type: string, content: Uint8Array]} */
function encodeTexts(texts) {
  const letters = texts.map((text) => Array.from(text, (letter) => letter.codePointAt(0) ?? 0));
  const width = Math.max(1, ...letters.map(({ length }) => length));
  const codes = new Uint32Array(texts.length * width);
  letters.forEach((each, index) => codes.set(each, index * width));
  return [`<U${width}`, new Uint8Array(codes.buffer)];
}
