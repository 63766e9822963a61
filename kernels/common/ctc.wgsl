// The states of CTC: the labels of a target, with a blank before, between and after them.

const CLASSES = ${CLASSES}u;
const TIMES = ${TIMES}u;
const LABELS = ${LABELS}u;
const STATES = 2u * LABELS + 1u;
const BLANK = ${BLANK}u;

// The logarithm of 0: infinity does not survive arithmetic on every adapter.
const NO_PATH = -1e30;

// NaN is no logarithm of 0.
fn has_path(logarithm: f32) -> bool {
  return is_nan_value(logarithm) || logarithm > 0.5 * NO_PATH;
}

fn add_paths(a: f32, b: f32) -> f32 {
  let largest = larger(a, b);
  if (!has_path(largest)) {
    return NO_PATH;
  }
  return largest + log_of(exp_of(a - largest) + exp_of(b - largest));
}

fn label_count(sample: u32) -> u32 {
  return min(u32(target_lengths[sample]), LABELS);
}

fn time_count(sample: u32) -> u32 {
  return min(u32(output_lengths[sample]), TIMES);
}

fn state_class(sample: u32, state: u32) -> u32 {
  if (state % 2u == 0u) {
    return BLANK;
  }
  return u32(labels[sample * LABELS + state / 2u]);
}

// Whether a path may enter `state` from two states before: not over a blank between equal labels.
fn may_skip(sample: u32, state: u32) -> bool {
  return state % 2u == 1u && state > 1u
    && state_class(sample, state) != state_class(sample, state - 2u);
}

fn emitted(sample: u32, time: u32, state: u32) -> f32 {
  let value = log_probs[(sample * TIMES + time) * CLASSES + state_class(sample, state)];
  return larger(value, NO_PATH);
}

// Where `paths` has the paths up to a state (half 0), or from it to the end (half 1).
fn place(half: u32, sample: u32, time: u32, state: u32) -> u32 {
  return ((half * ${SAMPLES}u + sample) * TIMES + time) * STATES + state;
}

// The logarithm of the probability of all alignments of a sample of at least one time.
fn all_paths(sample: u32) -> f32 {
  let first = place(0u, sample, time_count(sample) - 1u, 2u * label_count(sample));
  if (label_count(sample) == 0u) {
    return paths[first];
  }
  return add_paths(paths[first], paths[first - 1u]);
}

// Whether the lengths are in range, and the labels are classes other than the blank.
fn is_valid(sample: u32) -> bool {
  if (u32(target_lengths[sample]) > LABELS || u32(output_lengths[sample]) > TIMES) {
    return false;
  }
  for (var i = 0u; i < label_count(sample); i++) {
    let class_of_label = state_class(sample, 2u * i + 1u);
    if (class_of_label >= CLASSES || class_of_label == BLANK) {
      return false;
    }
  }
  return true;
}
