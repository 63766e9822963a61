// Writes the values of one step into a row of a history, which is a ring buffer.
@compute @workgroup_size(1)
fn main() {
  let row = (position[0] % ${CAPACITY}u) * ${WIDTH}u;
${STORES}
}
