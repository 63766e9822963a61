/** Products of square matrices, as plain as WGSL allows: what a tile can reach on a card. */

/**
 * @typedef {object} Tile
 * @property {number} rows
 * @property {number} columns
 * @property {number} step depths that are staged together
 * @property {number} down results of an invocation, rows
 * @property {number} across results of an invocation, columns
 * @property {boolean} prefetch whether the next step is loaded while this one is computed
 * @property {boolean} unroll whether the loop over a step is written out
 */

const tile = (rows, columns, step, down, across, prefetch = false, unroll = false) =>
  /** @type {Tile} */ ({ rows, columns, step, down, across, prefetch, unroll });

export const TILES = [
  tile(128, 128, 8, 8, 8),
  tile(128, 128, 16, 8, 8),
  tile(128, 128, 8, 8, 8, true),
  tile(128, 128, 16, 8, 8, true),
  tile(128, 128, 8, 8, 8, true, true),
  tile(128, 128, 16, 8, 8, false, true),
  tile(64, 128, 16, 8, 8, true),
  tile(128, 64, 16, 8, 4, true),
  tile(64, 64, 16, 4, 4),
  tile(64, 64, 16, 8, 4),
  tile(64, 64, 16, 4, 4, true),
  tile(64, 64, 16, 8, 8, true),
  tile(32, 64, 16, 4, 4, true),
];

const each = (count, f) => Array.from({ length: count }, (_, i) => f(i)).join("\n");

/**
 * WGSL that multiplies matrices of `size` rows and columns, a multiple of the tile's.
 * @param {Tile} tile
 * @param {number} size
 */
export function productCode({ rows, columns, step, down, across, prefetch, unroll }, size) {
  const wide = columns / across;
  const threads = (rows / down) * wide;
  const [rowQuads, columnQuads, line] = [rows / 4, columns / 4, size / 4];
  const [ofA, ofB] = [(rowQuads * step) / 4, step * columnQuads];
  const [loadsA, loadsB] = [Math.ceil(ofA / threads), Math.ceil(ofB / threads)];
  const [downQuads, acrossQuads] = [down / 4, across / 4];
  const within = (i, count, text) => `if (t + ${i * threads}u < ${count}u) { ${text} }`;
  const load = (k) => `
${each(loadsA, (i) =>
  within(
    i,
    ofA,
    `let n = t + ${i * threads}u;
    let at = (row0 + 4u * (n / ${step / 4}u)) * ${line}u + (${k}) / 4u + n % ${step / 4}u;
    pa${i} = transpose(mat4x4f(a[at], a[at + ${line}u], a[at + ${2 * line}u], a[at + ${3 * line}u]));`,
  ),
)}
${each(loadsB, (i) =>
  within(
    i,
    ofB,
    `let n = t + ${i * threads}u;
    pb${i} = b[((${k}) + n / ${columnQuads}u) * ${line}u + col0 / 4u + n % ${columnQuads}u];`,
  ),
)}`;
  const store = `
${each(loadsA, (i) =>
  within(
    i,
    ofA,
    `let n = t + ${i * threads}u;
    let at = n % ${step / 4}u * ${rows}u + n / ${step / 4}u;
    ${each(4, (k) => `sa[at + ${k * rowQuads}u] = pa${i}[${k}];`)}`,
  ),
)}
${each(loadsB, (i) => within(i, ofB, `sb[t + ${i * threads}u] = pb${i};`))}`;
  const inner = (k) => `
${each(downQuads, (i) => `let ra${i} = sa[(${k}) * ${rowQuads}u + down + ${(i * rows) / down}u];`)}
${each(acrossQuads, (j) => `let rb${j} = sb[(${k}) * ${columnQuads}u + across + ${j * wide}u];`)}
${each(down, (r) => each(acrossQuads, (j) => `s${r}_${j} += ra${r >> 2}[${r % 4}] * rb${j};`))}`;
  const products = unroll
    ? each(step, (k) => `{ ${inner(`${k}u`)} }`)
    : `for (var k = 0u; k < ${step}u; k++) { ${inner("k")} }`;
  return `
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
var<workgroup> sa: array<vec4f, ${step * rowQuads}>;
var<workgroup> sb: array<vec4f, ${step * columnQuads}>;

@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32,
) {
  let row0 = g.y * ${rows}u;
  let col0 = g.x * ${columns}u;
  let down = t / ${wide}u;
  let across = t % ${wide}u;
  ${each(down, (r) => each(acrossQuads, (j) => `var s${r}_${j} = vec4f();`))}
  ${each(loadsA, (i) => `var pa${i} = mat4x4f();`)}
  ${each(loadsB, (i) => `var pb${i} = vec4f();`)}
  ${prefetch ? load("0u") : ""}
  for (var k0 = 0u; k0 < ${size}u; k0 += ${step}u) {
    ${prefetch ? "" : load("k0")}
    ${store}
    workgroupBarrier();
    ${prefetch ? `let next = select(0u, k0 + ${step}u, k0 + ${step}u < ${size}u); ${load("next")}` : ""}
    ${products}
    workgroupBarrier();
  }
  ${each(down, (r) =>
    each(
      acrossQuads,
      (j) => `c[(row0 + 4u * (down + ${((r >> 2) * rows) / down}u) + ${r % 4}u) * ${line}u
      + col0 / 4u + across + ${j * wide}u] = s${r}_${j};`,
    ),
  )}
}`;
}

/** Element (row, column) of the product of the matrices that the measurement fills. */
export function expected(size, row, column) {
  let sum = 0;
  for (let k = 0; k < size; k++) {
    const a = Math.fround(Math.sin(row * size + k) / 30);
    sum += a * Math.fround(Math.cos(3 * (k * size + column)) / 30);
  }
  return sum;
}
