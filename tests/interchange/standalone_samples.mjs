// Runs programs of stand-alone pages: JSON from standard input, JSON to standard output.

import { interpreter } from "../../static/standalone/interpreter.js";

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array,
};
const bytesOf = (text) => Uint8Array.from(Buffer.from(text, "base64")).buffer;

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const results = JSON.parse(Buffer.concat(chunks).toString()).map(({ program, weights, inputs }) => {
  try {
    const predict = interpreter(program, bytesOf(weights));
    const data = inputs.map(
      (text, i) => program.inputs[i] && new ARRAYS[program.inputs[i][3]](bytesOf(text)),
    );
    return predict(data).map((x) => ({
      dtype: x.dtype,
      shape: x.shape,
      data: Buffer.from(x.data.buffer, x.data.byteOffset, x.data.byteLength).toString("base64"),
    }));
  } catch (error) {
    return String(error.stack);
  }
});
process.stdout.write(JSON.stringify(results));
