/** The output of the user's code, limited to its last lines. */

/** @import { ConsoleLine } from "./types.js" */

const MOST_LINES = 600;
const LONGEST_LINE = 4000;

export class Transcript {
  /** @type {ConsoleLine[]} */
  lines = [];
  #nextId = 0;
  /** Whether the last line is still incomplete. */
  #open = false;

  clear() {
    this.lines = [];
    this.#open = false;
  }

  /** Show lines of an earlier visit. @param {Omit<ConsoleLine, "id">[]} lines */
  restore(lines) {
    this.clear();
    this.lines = lines.map(({ text, stream }) => ({ id: this.#nextId++, text, stream }));
  }

  /**
   * @param {string} text any piece of output, with or without line ends
   * @param {ConsoleLine["stream"]} stream
   */
  add(text, stream) {
    const pieces = text.split("\n");
    // Of a flood, only the end stays.
    const first = Math.max(0, pieces.length - MOST_LINES - 1);
    pieces.slice(first).forEach((piece, index) => {
      const isRest = index === pieces.length - 1 - first;
      if (isRest && piece === "") {
        this.#open = false;
        return;
      }
      this.#append(isRest ? piece : piece.replace(/\r+$/, ""), stream);
      this.#open = isRest;
    });
    if (this.lines.length > MOST_LINES) this.lines = this.lines.slice(-MOST_LINES);
  }

  /** @param {string} text a remark of the page, on its own line */
  note(text) {
    this.#open = false;
    this.add(`${text}\n`, "note");
  }

  /** @param {string} piece @param {ConsoleLine["stream"]} stream */
  #append(piece, stream) {
    const last = this.lines.at(-1);
    const continues = this.#open && last && last.stream === stream;
    const whole = (continues ? last.text : "") + piece;
    // A carriage return overwrites the line, as progress bars do.
    const text = whole.slice(whole.replace(/\r+$/, "").lastIndexOf("\r") + 1).slice(0, LONGEST_LINE);
    if (continues) this.lines[this.lines.length - 1] = { ...last, text };
    else this.lines.push({ id: this.#nextId++, text, stream });
  }
}
