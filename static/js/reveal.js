import * as store from "./store.js";

let serial = 0;

/** Show a line of the code in the editor, if it is the code that ran. @param {number | null} line */
export function reveal(line) {
  if (line !== null && store.linesApply.value) store.revealedLine.value = { line, serial: serial++ };
}
