/** The lines that were typed at the prompt, kept in the tab: up and down go through them. */

import { recallInTab, rememberInTab } from "../state/storage.js";

const KEY = "prompt-history";
const MOST_ENTRIES = 200;
const MOST_CHARACTERS = 100_000;

export class PromptHistory {
  /** Oldest first. @type {string[]} */
  #entries = read();
  /** The entry that is shown; the number of entries for the line that is being typed. */
  #at = this.#entries.length;
  #typed = "";

  /** @param {string} code */
  add(code) {
    const others = this.#entries.at(-1) === code ? this.#entries.slice(0, -1) : this.#entries;
    this.#entries = [...others, code].slice(-MOST_ENTRIES);
    while (this.#entries.length > 1 && this.#entries.join("").length > MOST_CHARACTERS)
      this.#entries.shift();
    this.#at = this.#entries.length;
    this.#typed = "";
    rememberInTab(KEY, JSON.stringify(this.#entries));
  }

  /**
   * The entry before or after the one that is shown; null at the end.
   * @param {string} shown
   * @param {-1 | 1} direction
   */
  move(shown, direction) {
    const next = this.#at + direction;
    if (next < 0 || next > this.#entries.length) return null;
    if (this.#at === this.#entries.length) this.#typed = shown;
    this.#at = next;
    return this.#entries[next] ?? this.#typed;
  }
}

/** @returns {string[]} */
function read() {
  try {
    const entries = JSON.parse(recallInTab(KEY) ?? "[]");
    return Array.isArray(entries) ? entries.filter((entry) => typeof entry === "string") : [];
  } catch {
    return [];
  }
}
