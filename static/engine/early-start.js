/** What Python's worker does before the page's modules are there: it fetches Python, and starts it if the line is quick. */

import { beginDownloads, bootPython } from "./python-boot.js";

/** @import { Booted, LoadState, Streams } from "./python-boot.js" */
/** @import { Template } from "./messages.js" */

export class EarlyStart {
  #downloads = beginDownloads();
  /** @type {Streams | undefined} of the page, once it is there */
  #streams;
  /** Lines before that. @type {[keyof Streams, string][]} */
  #lines = [];
  /** @type {Promise<Booted> | undefined} */
  #booting;

  constructor() {
    this.#downloads?.line.isQuick.then((isQuick) => {
      if (!isQuick || this.#streams) return;
      const streams = { stdout: this.#sink("stdout"), stderr: this.#sink("stderr") };
      this.#booting = bootPython(streams, () => {}, undefined, false, this.#downloads);
      this.#booting.catch(() => {}); // reported where it is used
    });
  }

  /**
   * Go on for the page; the arguments are those of `bootPython`. What was begun has no template.
   * @param {Streams} streams
   * @param {(state: LoadState) => void} report
   * @param {Template} [template]
   * @param {boolean} [withoutImage]
   * @returns {Promise<Booted>}
   */
  async boot(streams, report, template, withoutImage) {
    this.#streams = streams;
    for (const [kind, line] of this.#lines) streams[kind](line);
    this.#downloads?.tell(report);
    return await (this.#booting ??
      bootPython(streams, report, template, withoutImage, this.#downloads));
  }

  /** @param {keyof Streams} kind */
  #sink(kind) {
    return (/** @type {string} */ line) => {
      if (this.#streams) this.#streams[kind](line);
      else this.#lines.push([kind, line]);
    };
  }
}
