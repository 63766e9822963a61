/** Safetensors files (https://github.com/huggingface/safetensors): the length of a JSON header in eight bytes, the header, and the values. */

/**
 * @param {Uint8Array} bytes
 * @returns {{header: any, start: number}} `start`: of the values, from which the header counts
 * @throws {RangeError | SyntaxError | TypeError} the file is damaged
 */
export function headerOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, start));
  return { header: JSON.parse(text), start };
}
