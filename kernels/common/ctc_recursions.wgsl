// The recursions of CTC, for one sample. They need the states of ctc.wgsl.

fn forwards(sample: u32) {
  let states = 2u * label_count(sample) + 1u;
  for (var t = 0u; t < time_count(sample); t++) {
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

fn backwards(sample: u32) {
  let states = 2u * label_count(sample) + 1u;
  let times = time_count(sample);
  for (var back = 0u; back < times; back++) {
    let t = times - 1u - back;
    for (var s = 0u; s < states; s++) {
      var reached = select(NO_PATH, 0.0, s + 2u >= states);
      if (back > 0u) {
        reached = NO_PATH;
        for (var next = s; next < min(s + 3u, states); next++) {
          if (next < s + 2u || may_skip(sample, next)) {
            let onwards = paths[place(1u, sample, t + 1u, next)];
            reached = add_paths(reached, onwards + emitted(sample, t + 1u, next));
          }
        }
      }
      paths[place(1u, sample, t, s)] = reached;
    }
  }
}
