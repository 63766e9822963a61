// Pixels of an image at positions (row * width + column) in their channel.

const PIXELS = ${PIXELS}u;
const CHANNELS = ${CHANNELS}u;
const OUTPUTS = ${OUTPUTS}u;

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let image = index / OUTPUTS;
  let pixel = image * PIXELS + u32(positions[index]);
  store(index, images[pixel * CHANNELS + index % CHANNELS]);
}
