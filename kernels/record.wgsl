// Writes the values of one step into their row of a history, which is a ring.
@compute @workgroup_size(1)
fn main() {
  let row = (position[0] % ${CAPACITY}u) * ${WIDTH}u;
${STORES}
}
