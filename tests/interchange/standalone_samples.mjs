// Runs programs of stand-alone pages: JSON from standard input, JSON to standard output.

globalThis.navigator ??= { language: "en" };
const { compiledNetwork } = await import("../../static/standalone/compiled-network.js");

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
const results = [];
for (const { program, weights, inputs } of JSON.parse(Buffer.concat(chunks).toString())) {
  try {
    const predict = await compiledNetwork(program, bytesOf(weights));
    const data = inputs.map(
      (text, i) => program.inputs[i] && new ARRAYS[program.inputs[i][1]](bytesOf(text)),
    );
    results.push(
      predict(data).map((x) => ({
        dtype: x.dtype,
        shape: x.shape,
        data: Buffer.from(x.data.buffer, x.data.byteOffset, x.data.byteLength).toString("base64"),
      })),
    );
  } catch (error) {
    results.push(String(error.stack));
  }
}
process.stdout.write(JSON.stringify(results));
