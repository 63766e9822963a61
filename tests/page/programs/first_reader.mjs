/** Read images of digits with the page's first reader: a file of float32 pixels in, JSON out. */

import { readFileSync } from "node:fs";
import { SIDE } from "../../../static/js/pictures/digit.js";
import { FirstReader, weightsOf } from "../../../static/js/panels/watch/first-reader.js";

const [weights, images] = process.argv.slice(2).map((path) => new Uint8Array(readFileSync(path)));
const pixels = new Float32Array(images.buffer, images.byteOffset, images.length / 4);
const reader = new FirstReader(weightsOf(weights));
const answers = [];
for (let start = 0; start < pixels.length; start += SIDE * SIDE) {
  answers.push(reader.read(pixels.subarray(start, start + SIDE * SIDE)).probabilities);
}
process.stdout.write(JSON.stringify(answers));
