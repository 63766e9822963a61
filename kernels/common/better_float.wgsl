#include "common/numbers.wgsl"

fn better(value: f32, best: f32) -> bool {
  return value ${BETTER} best || (is_nan_value(value) && !is_nan_value(best));
}
