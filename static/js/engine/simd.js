import { canShareMemory } from "../../engine/memory-sharing.js";
import { coresForThreads } from "../../engine/threads.js";

/** A module with one function, which counts the bits of 16 bytes (`i8x16.popcnt`). */
const MODULE = [
  [0, 97, 115, 109, 1, 0, 0, 0],
  [1, 5, 1, 96, 0, 1, 123],
  [3, 2, 1, 0],
  [10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
];

/** How many threads work on a step at most, if Python computes with SIMD (docs/decisions/055). */
export const stepThreads = canShareMemory() ? coresForThreads() : 1;

/** Whether Python computes with SIMD (docs/decisions/045). */
export const hasSimd = globalThis.WebAssembly?.validate(Uint8Array.from(MODULE.flat())) ?? false;
