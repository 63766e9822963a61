// Gradient of grouped convolution by its filters: each weight sums its products over the output
// pixels, or over the rows of pixels of one split.

const WEIGHTS = ${WEIGHTS};
const ROWS = ${ROWS};
const ROWS_PER_SPLIT = ${ROWS_PER_SPLIT};

#include "common/conv2d_grouped.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let weight = i32(index) % WEIGHTS;
  let split = i32(index) / WEIGHTS;
  let output = weight % OUTPUTS;
  let channel = output / GROUP_OUTPUTS * GROUP_CHANNELS + weight / OUTPUTS % GROUP_CHANNELS;
  let place = weight / (OUTPUTS * GROUP_CHANNELS);
  let left = place % FILTER_WIDTH * DILATION_X - PAD_LEFT;
  let top = place / FILTER_WIDTH * DILATION_Y - PAD_TOP;
  var sum = 0.0;
  for (var row = split * ROWS_PER_SPLIT; row < min((split + 1) * ROWS_PER_SPLIT, ROWS); row++) {
    let item = row / OUTPUT_HEIGHT;
    let output_y = row % OUTPUT_HEIGHT;
    let y = output_y * STRIDE_Y + top;
    if ((y >= 0) & (y < HEIGHT)) {
      for (var output_x = 0; output_x < OUTPUT_WIDTH; output_x++) {
        let x = output_x * STRIDE_X + left;
        if ((x >= 0) & (x < WIDTH)) {
          sum += image[image_at(item, y, x) + channel]
            * gradient[output_at(item, output_y, output_x) + output];
        }
      }
    }
  }
  store(index, sum);
}
