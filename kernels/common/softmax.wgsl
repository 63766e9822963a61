// The largest of CLASSES logits, which begin at `first` and are `apart` elements apart, and the sum
// of exp(logit - largest), which cannot overflow.
fn largest_and_sum(first: u32, apart: u32) -> vec2<f32> {
  var largest = logits[first];
  for (var c = 1u; c < CLASSES; c++) {
    largest = larger(largest, logits[first + c * apart]);
  }
  var sum = 0.0;
  for (var c = 0u; c < CLASSES; c++) {
    sum += exp_of(logits[first + c * apart] - largest);
  }
  return vec2<f32>(largest, sum);
}
