// gather.wgsl for packed bytes, where the length of a row is not a multiple of 4. An invocation
// assembles one word of the result. An index outside the table gives zeros.

const WIDTH = ${WIDTH}u;
const BYTES = ${BYTES}u;

fn byte_at(index: u32) -> u32 {
  if (index >= BYTES) {
    return 0u;
  }
  let row = u32(indices[${PLACE}]);
  if (row >= ${ROWS}u) {
    return 0u;
  }
  let at = (${FIRST} + row) * WIDTH + index % WIDTH;
  return (rows[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = 4u * index;
  result[index] = byte_at(first) | (byte_at(first + 1u) << 8u) | (byte_at(first + 2u) << 16u)
    | (byte_at(first + 3u) << 24u);
}
