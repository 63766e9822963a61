// Shared by the reductions.
//
// Parts of a result are in the output one after another and are reduced by a second dispatch. The
// order of additions is fixed.

alias Number = ${NUMBER};
const OUTPUTS = ${OUTPUTS}u;
const REDUCED = ${REDUCED}u;
const CHUNK = ${CHUNK}u;

// Element r of output o is source[output_offset(o) + reduced_offset(r)].
fn output_offset(index: u32) -> u32 {
  return ${OUTPUT_OFFSET};
}

fn reduced_offset(index: u32) -> u32 {
  return ${REDUCED_OFFSET};
}

fn load(index: u32) -> Number {
  return ${LOAD};
}

// fn combine(x: Number, y: Number) -> Number
${combine}

// fn store(index: u32, value: Number)
${store}
