// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
// 1, 2, 3", 2011). The same bits on every host.

fn threefry_rounds(state: vec2<u32>, rotations: vec4<u32>) -> vec2<u32> {
  var x = state;
  x.x += x.y;
  x.y = ((x.y << rotations.x) | (x.y >> (32u - rotations.x))) ^ x.x;
  x.x += x.y;
  x.y = ((x.y << rotations.y) | (x.y >> (32u - rotations.y))) ^ x.x;
  x.x += x.y;
  x.y = ((x.y << rotations.z) | (x.y >> (32u - rotations.z))) ^ x.x;
  x.x += x.y;
  x.y = ((x.y << rotations.w) | (x.y >> (32u - rotations.w))) ^ x.x;
  return x;
}

fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
  let even = vec4<u32>(13u, 15u, 26u, 6u);
  let odd = vec4<u32>(17u, 29u, 16u, 24u);
  let last = key.x ^ key.y ^ 0x1bd11bdau;
  var x = threefry_rounds(counter + key, even) + vec2<u32>(key.y, last + 1u);
  x = threefry_rounds(x, odd) + vec2<u32>(last, key.x + 2u);
  x = threefry_rounds(x, even) + vec2<u32>(key.x, key.y + 3u);
  x = threefry_rounds(x, odd) + vec2<u32>(key.y, last + 4u);
  return threefry_rounds(x, even) + vec2<u32>(last, key.x + 5u);
}
