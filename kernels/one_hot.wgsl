// ON where the position along the last axis is the index, OFF elsewhere.

// Variables, as WGSL has no constant that is infinite or NaN.
var<private> on_bits: u32 = ${ON};
var<private> off_bits: u32 = ${OFF};

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let chosen = u32(indices[index / ${DEPTH}u]) == index % ${DEPTH}u;
  result[index] = bitcast<${NUMBER}>(select(off_bits, on_bits, chosen));
}
