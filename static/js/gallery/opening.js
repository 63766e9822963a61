/** Whether the gallery of all examples is open. */

import { signal } from "../../vendor/preact.js";

export const isOpen = signal(false);

export function openExamples() {
  isOpen.value = true;
}

export function closeExamples() {
  isOpen.value = false;
}
