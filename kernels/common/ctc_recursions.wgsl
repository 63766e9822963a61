// The recursions of CTC, for one sample, from step `begin` to before `end` of all its times. They need
// the states of ctc.wgsl.

fn forwards(sample: u32, begin: u32, end: u32) {
  let states = 2u * label_count(sample) + 1u;
  for (var t = begin; t < min(end, time_count(sample)); t++) {
    for (var s = 0u; s < states; s++) {
      var reached = NO_PATH;
      if (t == 0u) {
        reached = select(NO_PATH, 0.0, s < 2u);
      } else {
        reached = paths[place(0u, sample, t - 1u, s)];
        if (s > 0u) {
          reached = add_paths(reached, paths[place(0u, sample, t - 1u, s - 1u)]);
        }
        if (may_skip(sample, s)) {
          reached = add_paths(reached, paths[place(0u, sample, t - 1u, s - 2u)]);
        }
      }
      paths[place(0u, sample, t, s)] = larger(reached + emitted(sample, t, s), NO_PATH);
    }
  }
}

// The paths from a state at the time after `time` to the end, with its emissions.
fn onwards(sample: u32, time: u32, state: u32) -> f32 {
  return paths[place(1u, sample, time + 1u, state)] + emitted(sample, time + 1u, state);
}

fn backwards(sample: u32, begin: u32, end: u32) {
  let states = 2u * label_count(sample) + 1u;
  let times = time_count(sample);
  for (var back = begin; back < min(end, times); back++) {
    let t = times - 1u - back;
    for (var s = 0u; s < states; s++) {
      var reached = select(NO_PATH, 0.0, s + 2u >= states);
      if (back > 0u) {
        reached = larger(onwards(sample, t, s), NO_PATH);
        if (s + 1u < states) {
          reached = add_paths(reached, onwards(sample, t, s + 1u));
        }
        if (s + 2u < states && may_skip(sample, s + 2u)) {
          reached = add_paths(reached, onwards(sample, t, s + 2u));
        }
      }
      paths[place(1u, sample, t, s)] = reached;
    }
  }
}
