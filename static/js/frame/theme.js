/** The theme: the system's choice until the user makes one. */

import { computed, signal } from "../../vendor/preact.js";
import { recall, remember } from "../state/storage.js";

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const prefersDark = signal(systemDark.matches);
systemDark.addEventListener("change", ({ matches }) => (prefersDark.value = matches));

const chosen = signal(recall("theme"));

export const theme = computed(() => chosen.value ?? (prefersDark.value ? "dark" : "light"));

export function toggleTheme() {
  const next = theme.value === "dark" ? "light" : "dark";
  const isSystem = (next === "dark") === prefersDark.value;
  chosen.value = isSystem ? null : next;
  remember("theme", chosen.value);
  if (isSystem) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

const probe = document.createElement("span");
probe.hidden = true;

/** The current value of a colour of the style sheet, for drawing on a canvas. @param {string} name */
export function cssColour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
