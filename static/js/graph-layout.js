/** Lays pictures of graphs out, in a worker of its own: a large one takes a second. */

/**
 * @typedef {import("./graph-model.js").Picture} Picture
 * @typedef {{x: number, y: number, width: number, height: number}} Box around its centre
 * @typedef {{width: number, height: number, boxes: Record<string, Box>, paths: string[]}} Layout
 *   `paths`: SVG path data, one for each of the picture's arrows
 */

/** @type {Worker | undefined} */
let worker;
let serial = 0;
/** @type {Map<number, {resolve: (layout: Layout) => void, reject: (error: Error) => void}>} */
const waiting = new Map();

/**
 * @param {Picture} picture
 * @param {"LR" | "TB"} direction left to right, or top to bottom
 * @returns {Promise<Layout>}
 */
export function layOut({ items, clusters, arrows }, direction) {
  worker ??= startWorker();
  const id = ++serial;
  worker.postMessage({
    id,
    direction,
    items: items.map(({ id: name, parent, width, height }) => ({ id: name, parent, width, height })),
    clusters: clusters.map(({ id: name, parent }) => ({ id: name, parent })),
    // Data arrows are kept short first. No weight may be 0: dagre then lets both ends of an arrow
    // share a rank, and fails to draw it.
    arrows: arrows.map(({ from, to, control }) => ({ from, to, weight: control ? 1 : 3 })),
  });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function startWorker() {
  const started = new Worker(new URL("./graph-layout-worker.js", import.meta.url), { type: "module" });
  started.onmessage = ({ data }) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) asked?.reject(new Error(data.error));
    else asked?.resolve(data.layout);
  };
  started.onerror = () => {
    for (const { reject } of waiting.values()) reject(new Error("the graph could not be laid out"));
    waiting.clear();
    worker = undefined;
  };
  return started;
}
