// Copies a tensor into a larger one and fills the rest with one value.

// A variable, as WGSL has no constant that is infinite or NaN.
var<private> fill_bits: u32 = ${FILL};

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  if (${INSIDE}) {
    result[index] = source[${SOURCE}];
  } else {
    result[index] = bitcast<${NUMBER}>(fill_bits);
  }
}
