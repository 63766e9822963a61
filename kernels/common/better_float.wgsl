#include "common/numbers.wgsl"

fn better(value: f32, best: f32) -> bool {
  return !is_nan_value(best) && (value ${BETTER} best || is_nan_value(value));
}
