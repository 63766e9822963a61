/**
 * Creates an image of Python's memory (image-making.js) in Node: `node make-image.mjs <folder of Pyodide>`.
 *
 * Reads files for Python from standard input (the length of a table as uint32, the table of
 * [path, size] as JSON, the bytes of the files) and writes the image to standard output.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { makeImage } from "./image-making.js";

/** @param {Uint8Array} input */
function filesOf(input) {
  const length = new DataView(input.buffer, input.byteOffset).getUint32(0, true);
  const table = JSON.parse(new TextDecoder().decode(input.subarray(4, 4 + length)));
  return { table, bytes: new Uint8Array(input.subarray(4 + length)) };
}

try {
  const folder = process.argv[2];
  const { table, bytes } = filesOf(readFileSync(0));
  const { loadPyodide } = await import(`${pathToFileURL(folder)}/pyodide.mjs`);
  const { default: create } = await import(`${pathToFileURL(folder)}/pyodide.asm.mjs`);
  const places = { indexURL: folder, stdLibURL: `${folder}/python_stdlib_at_once.zip` };
  const image = await makeImage({ loadPyodide, create }, places, table, bytes);
  process.stdout.write(image, () => process.exit(0)); // Pyodide would keep Node alive
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
