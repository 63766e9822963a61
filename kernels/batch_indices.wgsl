// Indices of the samples in the batch of a step. Each sample occurs once in an epoch, in an order
// that depends on seed and epoch only.
//
// In an endless stream (STEPS is 0) a batch can begin in one epoch and end in the next. Otherwise an
// epoch has STEPS batches, STRIDE samples apart, and the first one begins with step `started`.
//
// The order is a balanced Feistel network over the smallest domain of an even number of bits that
// holds COUNT. A result outside [0, COUNT) goes through the network again.

#include "common/threefry.wgsl"

const COUNT = ${COUNT}u;
const BATCH = ${BATCH}u;
const STEPS = ${STEPS}u;
const STRIDE = ${STRIDE}u;
const SHUFFLE = ${SHUFFLE};
const HALF_BITS = ${HALF_BITS}u;
const HALF_MASK = (1u << HALF_BITS) - 1u;

// The finalizer of MurmurHash3: every input bit affects every output bit.
fn scramble(value: u32) -> u32 {
  var x = value;
  x = (x ^ (x >> 16u)) * 0x85ebca6bu;
  x = (x ^ (x >> 13u)) * 0xc2b2ae35u;
  return x ^ (x >> 16u);
}

fn round_pair(halves: vec2<u32>, keys: vec2<u32>) -> vec2<u32> {
  let left = halves.x ^ (scramble(halves.y ^ keys.x) & HALF_MASK);
  return vec2<u32>(left, halves.y ^ (scramble(left ^ keys.y) & HALF_MASK));
}

fn permute(item: u32, epoch: u32) -> u32 {
  let key = vec2<u32>(${SEED_0}u, ${SEED_1}u);
  let keys_0 = threefry(key, vec2<u32>(epoch, 0u));
  let keys_1 = threefry(key, vec2<u32>(epoch, 1u));
  let keys_2 = threefry(key, vec2<u32>(epoch, 2u));
  var x = item;
  loop {
    var halves = vec2<u32>(x >> HALF_BITS, x & HALF_MASK);
    halves = round_pair(halves, keys_0);
    halves = round_pair(halves, keys_1);
    halves = round_pair(halves, keys_2);
    x = (halves.x << HALF_BITS) | halves.y;
    if (x < COUNT) {
      break;
    }
  }
  return x;
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let step = step_number[0];
  var item = (step * BATCH + index) % COUNT;
  var epoch = (step * BATCH + index) / COUNT;
  if (STEPS > 0u) {
    let divisor = max(STEPS, 1u);
    let since = step - min(step, started[0]);
    item = (since % divisor * STRIDE + index) % COUNT;
    epoch = (started[0] + divisor - 1u) / divisor + since / divisor;
  }
  if (SHUFFLE) {
    item = permute(item, epoch);
  }
  result[index] = i32(item);
}
