/** The output of the user's code: of a long one its first and its last part. */

import { t } from "../words/locale.js";

/** @import { Figure } from "../../engine/messages.js" */
/** @import { ConsoleLine } from "../state/types.js" */

const FIRST_LINES = 100;
const LAST_LINES = 500;
/** Figures that are kept: the first ones and the last ones. */
const FIRST_FIGURES = 6;
const MOST_FIGURES = 30;
const MOST_FIGURE_BYTES = 6 << 20;
/** Characters of the beginning and of the end of a long line. */
const HALF_LINE = 2000;

/**
 * @typedef {{first: string, leftOut: number, last: string}} Line
 *   `first` is empty unless something was left out before `last`
 */

/** @type {Readonly<Line>} */
const EMPTY = { first: "", leftOut: 0, last: "" };

/** @param {number} count */
const gap = (count) => (count > 0 ? t().output.leftOut(count) : "");

/** @param {Line} line */
const shown = ({ first, leftOut, last }) => first + gap(leftOut) + last;

/** The bytes of its values. @param {Figure | undefined} figure */
function bytesOf(figure) {
  if (figure?.shows === "pictures") return figure.pixels.length;
  if (figure?.shows === "image") return figure.png.length;
  return figure ? figure.series.reduce((sum, { x, y }) => sum + x.length + y.length, 0) : 0;
}

/** @param {Line} line @param {string} piece @returns {Line} */
function extended(line, piece) {
  const last = line.last + piece;
  // A carriage return overwrites the line, as progress bars do.
  const begin = last.replace(/\r+$/, "").lastIndexOf("\r") + 1;
  const { first, leftOut } = begin > 0 ? EMPTY : line;
  return shortened({ first, leftOut, last: last.slice(begin) });
}

/** @param {Line} line @returns {Line} */
function shortened({ first, leftOut, last }) {
  if (leftOut === 0 && last.length > 2 * HALF_LINE) {
    first = last.slice(0, HALF_LINE);
    last = last.slice(HALF_LINE);
  } else if (leftOut === 0 || last.length <= HALF_LINE) return { first, leftOut, last };
  return { first, leftOut: leftOut + last.length - HALF_LINE, last: last.slice(-HALF_LINE) };
}

export class Transcript {
  /** @type {ConsoleLine[]} */
  lines = [];
  #nextId = 0;
  /** The last line, if it is still incomplete. @type {Line | null} */
  #open = null;
  /** The id of the line that stands for the ones left out after the first. @type {number | null} */
  #gapId = null;
  /** Characters left out there. */
  #leftOut = 0;
  /** Characters left out within lines, by their ids, and characters of the note that says so. @type {Map<number, {count: number, said: number}>} */
  #hidden = new Map();

  clear() {
    this.lines = [];
    this.#open = null;
    this.#gapId = null;
    this.#leftOut = 0;
    this.#hidden.clear();
  }

  /** Show lines of an earlier visit. @param {Omit<ConsoleLine, "id">[]} lines */
  restore(lines) {
    this.clear();
    this.lines = lines.map((line) => ({ id: this.#nextId++, ...line }));
  }

  /**
   * @param {string} text any piece of output, with or without line ends
   * @param {ConsoleLine["stream"]} stream
   */
  add(text, stream) {
    const pieces = text.split("\n");
    const last = pieces.length - LAST_LINES - 1;
    pieces.forEach((piece, index) => {
      if (index > FIRST_LINES && index < last) {
        this.#leftOut += piece.length + 1; // need not become a line first
        return;
      }
      const isRest = index === pieces.length - 1;
      if (isRest && piece === "") return;
      const whole = isRest ? piece : piece.replace(/\r+$/, "");
      this.#change((line) => extended(line, whole), stream);
      if (!isRest) this.#open = null;
    });
    this.#trim();
  }

  /** Code that was typed at the prompt. @param {string} code */
  typed(code) {
    this.#open = null;
    this.add(
      code
        .split("\n")
        .map((line, at) => `${at === 0 ? ">>>" : "..."} ${line}\n`)
        .join(""),
      "input",
    );
  }

  /** @param {Figure} figure @param {string} text says what it shows */
  addFigure(figure, text) {
    this.#open = null;
    this.lines.push({ id: this.#nextId++, text, stream: "stdout", figure });
    this.#limitFigures();
    this.#trim();
  }

  /** Replace the oldest figures after the first ones by their texts, if there are too many. */
  #limitFigures() {
    const places = this.lines.flatMap(({ figure }, at) => (figure ? [at] : []));
    let bytes = places.reduce((sum, at) => sum + bytesOf(this.lines[at].figure), 0);
    let count = places.length;
    // The last one is always shown.
    for (const at of places.slice(Math.min(FIRST_FIGURES, count - 1), -1)) {
      if (count <= MOST_FIGURES && bytes <= MOST_FIGURE_BYTES) break;
      const { id, text, figure } = this.lines[at];
      this.lines[at] = { id, text: t().output.notKept(text), stream: "note" };
      count -= 1;
      bytes -= bytesOf(figure);
    }
  }

  /**
   * Say that a part of the output did not come.
   * @param {number} count of its characters
   * @param {ConsoleLine["stream"]} stream
   */
  skip(count, stream) {
    this.#change(
      ({ first, leftOut, last }) =>
        leftOut > 0
          ? { first, leftOut: leftOut + last.length + count, last: "" }
          : { first: last, leftOut: count, last: "" },
      stream,
    );
    this.#trim();
  }

  /** @param {string} text a remark of the page, on its own line */
  note(text) {
    this.#open = null;
    this.add(`${text}\n`, "note");
  }

  /**
   * Change the last line if it is incomplete and of this stream; otherwise begin one.
   * @param {(line: Line) => Line} change
   * @param {ConsoleLine["stream"]} stream
   */
  #change(change, stream) {
    const last = this.lines.at(-1);
    const open = last?.stream === stream ? this.#open : null;
    const line = change(open ?? EMPTY);
    const id = open && last ? last.id : this.#nextId++;
    if (open) this.lines.pop();
    this.lines.push({ id, text: shown(line), stream });
    if (line.leftOut > 0)
      this.#hidden.set(id, { count: line.leftOut, said: gap(line.leftOut).length });
    else this.#hidden.delete(id);
    this.#open = line;
  }

  /** Leave out the lines between the first and the last ones, with a line that says so. */
  #trim() {
    const middle = this.lines.slice(FIRST_LINES + (this.#gapId === null ? 0 : 1), -LAST_LINES);
    if (middle.length === 0) return;
    for (const { id, text } of middle) {
      const { count, said } = this.#hidden.get(id) ?? { count: 0, said: 0 };
      this.#leftOut += 1 + text.length - said + count;
      this.#hidden.delete(id);
    }
    this.#gapId ??= this.#nextId++;
    this.lines = [
      ...this.lines.slice(0, FIRST_LINES),
      { id: this.#gapId, text: gap(this.#leftOut), stream: "note" },
      ...this.lines.slice(-LAST_LINES),
    ];
  }
}
