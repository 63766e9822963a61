// Shared by the kernels of resizing: sizes, and the weight of each pixel in another.

const NEAREST = ${NEAREST};
const HEIGHT = ${HEIGHT};
const WIDTH = ${WIDTH};
const CHANNELS = ${CHANNELS};
const RESIZED_HEIGHT = ${RESIZED_HEIGHT};
const RESIZED_WIDTH = ${RESIZED_WIDTH};

// fn store(index: u32, value: f32)
${store}

// The place of pixel `at` of `after` along an axis of `before` pixels, in parts of 1 / (2 * after).
fn place_of(at: i32, before: i32, after: i32) -> i32 {
  let centre = (2 * at + 1) * before;
  if (NEAREST) {
    return centre / (2 * after) * (2 * after);
  }
  return clamp(centre - after, 0, 2 * after * (before - 1));
}

// The weight of input pixel `pixel` for such a place.
fn weight_at(place: i32, pixel: i32, after: i32) -> f32 {
  return f32(max(2 * after - abs(place - pixel * 2 * after), 0)) / f32(2 * after);
}
