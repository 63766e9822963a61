/**
 * Packs a file of images (pixels.js) in Node: `node pack-images.mjs <IDX file>` writes the packed file to
 * standard output, after unpacking it once more.
 */

import { readFileSync } from "node:fs";
import { headOf, pack, partsOf, unpackPart } from "./pixels.js";

try {
  const idx = new Uint8Array(readFileSync(process.argv[2]));
  const file = await pack(idx);
  const again = new Uint8Array(headOf(file).size);
  for (const [part, [from, to]] of partsOf(file).entries())
    unpackPart(file, part, file.subarray(from, to), again);
  if (Buffer.compare(again, idx) !== 0)
    throw new Error("the images are not the same when unpacked");
  process.stdout.write(file);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
