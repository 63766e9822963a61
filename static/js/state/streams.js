/** Bytes through a compressing or decompressing stream. */

/**
 * @param {Blob} content
 * @param {CompressionStream | DecompressionStream} transform
 * @param {number} [largest] bytes of the result
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {RangeError} the result is larger
 */
export async function through(content, transform, largest = Infinity) {
  const parts = [];
  let size = 0;
  for await (const part of piped(content, transform)) {
    size += part.length;
    if (size > largest) throw new RangeError("too large");
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * The result part by part; the rest is not made once the caller stops. Not every browser iterates over streams.
 * @param {Blob} content
 * @param {CompressionStream | DecompressionStream} transform
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, void>}
 */
export async function* piped(content, transform) {
  const reader = content.stream().pipeThrough(transform).getReader();
  try {
    for (
      let { done, value } = await reader.read();
      !done && value;
      { done, value } = await reader.read()
    )
      yield value;
  } finally {
    reader.cancel().catch(() => {});
  }
}
