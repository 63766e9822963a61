// The results of a product from its int32 sums, which may be split into parts. An invocation
// computes the four results of a word.

#include "common/int8.wgsl"
#include "common/int8_results.wgsl"
#include "common/requantize.wgsl"

const COLUMNS = ${COLUMNS}u;

fn int8_result(index: u32) -> i32 {
  let column = index % COLUMNS;
  var sum = bias[column];
  for (var split = 0u; split < ${SPLITS}u; split++) {
    sum += sums[split * ELEMENTS + index];
  }
  return requantize(sum, multiplier[column], shift[column]);
}
