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
  for await (const part of streamed(content.stream().pipeThrough(transform))) {
    size += part.length;
    if (size > largest) throw new RangeError("too large");
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Not every browser iterates over streams. @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream */
async function* streamed(stream) {
  const reader = stream.getReader();
  try {
    for (let { done, value } = await reader.read(); !done && value; { done, value } = await reader.read()) yield value;
  } finally {
    reader.cancel().catch(() => {});
  }
}
