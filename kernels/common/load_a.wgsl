// a[at], or zero where `place` is outside.
fn load_a(at: u32, place: u32) -> f32 {
  if (PADDED) {
    return select(0.0, a[at], place < PLACES);
  }
  return a[at];
}
