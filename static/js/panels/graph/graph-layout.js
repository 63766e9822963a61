/** Computes layouts of graphs, in a worker of its own: a large graph takes a second. */

import { t } from "../../words/locale.js";

/**
 * @typedef {import("./graph-model.js").Picture} Picture
 * @typedef {{x: number, y: number, width: number, height: number}} Box `x` and `y`: its centre
 * @typedef {{width: number, height: number, boxes: Record<string, Box>, paths: string[]}} Layout
 *   `paths`: SVG path data, one for each of the picture's arrows
 */

/** The page's end of graph-layout-worker.js. */
class LayoutWorker {
  /** @type {Worker | undefined} */
  #worker;
  #lastId = 0;
  /** @type {Map<number, {resolve: (layout: Layout) => void, reject: (error: Error) => void}>} */
  #pending = new Map();

  /**
   * @param {Picture} picture
   * @param {"LR" | "TB"} direction left to right, or top to bottom
   * @returns {Promise<Layout>}
   */
  layOut({ items, clusters, arrows }, direction) {
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    this.#worker.postMessage({
      id,
      direction,
      items: items.map(({ id: name, parent, width, height }) => ({
        id: name,
        parent,
        width,
        height,
      })),
      clusters: clusters.map(({ id: name, parent }) => ({ id: name, parent })),
      // Data arrows have priority to be short. No weight may be 0: dagre then puts both ends of an
      // arrow in one rank and fails to draw it.
      arrows: arrows.map(({ from, to, control }) => ({ from, to, weight: control ? 1 : 3 })),
    });
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  #start() {
    const worker = new Worker(new URL("./graph-layout-worker.js", import.meta.url), {
      type: "module",
    });
    worker.onmessage = ({ data }) => {
      const pending = this.#pending.get(data.id);
      this.#pending.delete(data.id);
      if (data.error) pending?.reject(new Error(data.error));
      else pending?.resolve(data.layout);
    };
    worker.onerror = () => {
      for (const { reject } of this.#pending.values()) reject(new Error(t().graph.layoutFailed));
      this.#pending.clear();
      this.#worker = undefined;
    };
    return worker;
  }
}

export const layouts = new LayoutWorker();
