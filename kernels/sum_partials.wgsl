// Adds the partial sums of the splits of a product, always in the same order.

const ITEMS = ${ITEMS}u;
const SPLITS = ${SPLITS}u;
// Results of one batch item; its splits are contiguous.
const RESULTS = ${RESULTS}u;

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ITEMS) {
    return;
  }
  let first = index / RESULTS * SPLITS * RESULTS + index % RESULTS;
  var sum = 0.0;
  for (var split = 0u; split < SPLITS; split++) {
    sum += partial_sums[first + split * RESULTS];
  }
  store(index, sum);
}
