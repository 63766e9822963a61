/**
 * Layout of graphs with thousands of boxes, in time that grows with their number.
 *
 * Each scope is laid out by itself, from the inside out, in layers along the arrows; long rows of layers wrap like
 * lines of text. Arrows are curves from box to box.
 */

/**
 * @typedef {import("./graph-layout.js").Box} Box
 * @typedef {import("./graph-layout-worker.js").Question} Question
 * @typedef {{id: string, along: number, across: number, order: number}} Cell
 *   an item or a scope: its size along the arrows and across them, and when it begins to compute
 * @typedef {{along: number, across: number, places: Map<string, {along: number, across: number}>}} Block
 *   the size of a scope, and the centres of its cells in it
 */

const LAYER_GAP = 26;
const CELL_GAP = 18;
const ROW_GAP = 30;
const MARGIN = 16;
/** Room inside the frame of a scope. */
const PADDING = 20;
/** The most cells in a layer; more are divided. */
const MOST_ABREAST = 24;
/** Rows of layers wrap so that a block is this many times as long as it is wide. */
const ASPECT = 1.8;
const SWEEPS = 2;

/** @param {Omit<Question, "id">} question @returns {import("./graph-layout.js").Layout} */
export function layers({ direction, items, clusters, arrows }) {
  const isAcross = direction === "TB";
  const parents = new Map([...clusters, ...items].map(({ id, parent }) => [id, parent]));
  const cells = cellsOf(items, clusters, isAcross);
  const within = arrowsWithin(arrows, parents);
  /** @type {Map<string | null, Block>} */
  const blocks = new Map();
  // Inner scopes follow the outer ones.
  for (const scope of [...clusters.map(({ id }) => id).reverse(), null]) {
    const block = arrange(cells.get(scope) ?? [], within.get(scope) ?? []);
    blocks.set(scope, block);
    const cell =
      scope === null
        ? undefined
        : cells.get(parents.get(scope) ?? null)?.find(({ id }) => id === scope);
    if (cell)
      Object.assign(cell, { along: block.along + 2 * PADDING, across: block.across + 2 * PADDING });
  }
  const boxes = boxesOf([null, ...clusters.map(({ id }) => id)], cells, blocks, isAcross);
  const whole = blocks.get(null) ?? { along: 0, across: 0 };
  const size = { along: whole.along + 2 * MARGIN, across: whole.across + 2 * MARGIN };
  return {
    width: isAcross ? size.across : size.along,
    height: isAcross ? size.along : size.across,
    boxes,
    paths: arrows.map(({ from, to }) => curve(boxes[from], boxes[to], isAcross)),
  };
}

/**
 * The cells of each scope, `null` for the whole, in the order in which they begin to compute.
 * @param {Question["items"]} items @param {Question["clusters"]} clusters @param {boolean} isAcross
 */
function cellsOf(items, clusters, isAcross) {
  /** @type {Map<string | null, Cell[]>} */
  const cells = new Map();
  const orders = new Map(items.map(({ id }, order) => [id, order]));
  const parents = new Map(clusters.map(({ id, parent }) => [id, parent]));
  for (const { id, parent } of items) {
    for (let scope = parent; scope !== null; scope = parents.get(scope) ?? null) {
      orders.set(scope, Math.min(orders.get(scope) ?? Infinity, orders.get(id) ?? 0));
    }
  }
  const frames = clusters.map((each) => ({ ...each, width: 0, height: 0 })); // until their cells are placed
  for (const { id, parent, width, height } of [...frames, ...items]) {
    const [along, across] = isAcross ? [height, width] : [width, height];
    const cell = { id, along, across, order: orders.get(id) ?? 0 };
    const known = cells.get(parent);
    if (known) known.push(cell);
    else cells.set(parent, [cell]);
  }
  for (const each of cells.values()) each.sort((a, b) => a.order - b.order);
  return cells;
}

/**
 * Each arrow in the innermost scope with both its ends, between the cells there that hold them.
 * @param {Question["arrows"]} arrows @param {Map<string, string | null>} parents
 */
function arrowsWithin(arrows, parents) {
  /** @type {Map<string | null, [string, string][]>} */
  const within = new Map();
  const chain = (/** @type {string} */ id) => {
    const path = [id];
    for (let scope = parents.get(id) ?? null; scope !== null; scope = parents.get(scope) ?? null)
      path.unshift(scope);
    return path;
  };
  for (const { from, to } of arrows) {
    const [start, end] = [chain(from), chain(to)];
    let depth = 0;
    while (start[depth] === end[depth]) depth += 1;
    const scope = depth > 0 ? start[depth - 1] : null;
    const known = within.get(scope);
    if (known) known.push([start[depth], end[depth]]);
    else within.set(scope, [[start[depth], end[depth]]]);
  }
  return within;
}

/** @param {Cell[]} cells @param {[string, string][]} arrows @returns {Block} */
function arrange(cells, arrows) {
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  /** @type {Map<string, Cell[]>} */
  const before = new Map(cells.map(({ id }) => [id, []]));
  /** @type {Map<string, Cell[]>} */
  const after = new Map(cells.map(({ id }) => [id, []]));
  for (const [from, to] of arrows) {
    const [start, end] = [byId.get(from), byId.get(to)];
    if (!start || !end || start.order >= end.order) continue; // it leads back
    before.get(to)?.push(start);
    after.get(from)?.push(end);
  }
  const ranks = layersOf(cells, before, after);
  const centres = straightened(ranks, before, after);
  return wrapped(ranks, centres);
}

/**
 * The layers of cells: each cell behind all that it depends on; one that depends on nothing, just before its first use.
 * @param {Cell[]} cells @param {Map<string, Cell[]>} before @param {Map<string, Cell[]>} after
 */
function layersOf(cells, before, after) {
  /** @type {Map<string, number>} */
  const rank = new Map();
  const of = (/** @type {Cell} */ { id }) => rank.get(id) ?? 0;
  for (const { id } of cells)
    rank.set(id, 1 + (before.get(id) ?? []).reduce((most, each) => Math.max(most, of(each)), -1));
  for (const { id } of cells) {
    const uses = after.get(id) ?? [];
    if (!before.get(id)?.length && uses.length) {
      rank.set(id, uses.reduce((least, each) => Math.min(least, of(each)), Infinity) - 1);
    }
  }
  /** @type {Cell[][]} */
  const layered = [];
  for (const cell of cells) (layered[of(cell)] ??= []).push(cell);
  return layered.filter(Boolean).flatMap((layer) => {
    const parts = Math.ceil(layer.length / MOST_ABREAST);
    const size = Math.ceil(layer.length / parts);
    return Array.from({ length: parts }, (_, part) => layer.slice(part * size, (part + 1) * size));
  });
}

/**
 * Order the cells of each layer so that few arrows cross, and return their centres across the arrows.
 * @param {Cell[][]} ranks @param {Map<string, Cell[]>} before @param {Map<string, Cell[]>} after
 */
function straightened(ranks, before, after) {
  /** @type {Map<string, number>} */
  const centres = new Map();
  const backwards = [...ranks].reverse();
  const centred = () => ranks.forEach((layer) => stack(layer, new Map(), centres));
  /** @param {Cell[][]} layered @param {(cell: Cell) => Cell[]} neighbours @param {boolean} isOrdering */
  const sweep = (layered, neighbours, isOrdering) => {
    for (const layer of layered) {
      const wished = new Map(layer.map((cell) => [cell.id, wish(cell, neighbours(cell), centres)]));
      if (isOrdering)
        layer.sort(
          (a, b) => (wished.get(a.id) ?? 0) - (wished.get(b.id) ?? 0) || a.order - b.order,
        );
      stack(layer, wished, centres);
    }
  };
  const earlier = (/** @type {Cell} */ { id }) => before.get(id) ?? [];
  const later = (/** @type {Cell} */ { id }) => after.get(id) ?? [];
  const both = (/** @type {Cell} */ cell) => [...earlier(cell), ...later(cell)];
  centred();
  for (let count = 0; count < SWEEPS; count += 1) {
    sweep(ranks, earlier, true);
    sweep(backwards, later, true);
  }
  // Neighbours on one side only would make a long row drift away from the axis.
  centred();
  for (let count = 0; count < SWEEPS; count += 1) {
    sweep(ranks, both, false);
    sweep(backwards, both, false);
  }
  return centres;
}

/** The centre that a cell would have beside its neighbours. @param {Cell} cell @param {Cell[]} near @param {Map<string, number>} centres */
function wish({ id }, near, centres) {
  if (!near.length) return centres.get(id) ?? 0;
  return near.reduce((sum, each) => sum + (centres.get(each.id) ?? 0), 0) / near.length;
}

/**
 * Place the cells of a layer in their order, as near to the wished centres as fits.
 * @param {Cell[]} layer @param {Map<string, number>} wished @param {Map<string, number>} centres
 */
function stack(layer, wished, centres) {
  let end = -Infinity;
  let shift = 0;
  for (const { id, across } of layer) {
    const wish = wished.get(id) ?? 0;
    const centre = Math.max(wish, end + CELL_GAP + across / 2);
    centres.set(id, centre);
    shift += (centre - wish) / layer.length;
    end = centre + across / 2;
  }
  for (const { id } of layer) centres.set(id, (centres.get(id) ?? 0) - shift);
}

/**
 * Layers one after another, in as many rows as make the block about as wide as a screen.
 * @param {Cell[][]} ranks @param {Map<string, number>} centres
 */
function wrapped(ranks, centres) {
  const lengths = ranks.map((layer) => Math.max(...layer.map(({ along }) => along)));
  const total = lengths.reduce((sum, length) => sum + length + LAYER_GAP, 0);
  const [low, high] = extent(ranks.flat(), centres);
  const rows = Math.max(1, Math.round(Math.sqrt(total / (ASPECT * (high - low + ROW_GAP)))));
  /** @type {Block} */
  const block = { along: 0, across: 0, places: new Map() };
  let [start, first] = [0, 0];
  while (first < ranks.length) {
    let [end, length] = [first, 0];
    while (end < ranks.length && (end === first || length + lengths[end] <= total / rows)) {
      length += lengths[end] + LAYER_GAP;
      end += 1;
    }
    const [top, bottom] = extent(ranks.slice(first, end).flat(), centres);
    let at = 0;
    for (let rank = first; rank < end; rank += 1) {
      for (const { id } of ranks[rank]) {
        block.places.set(id, {
          along: at + lengths[rank] / 2,
          across: start + (centres.get(id) ?? 0) - top,
        });
      }
      at += lengths[rank] + LAYER_GAP;
    }
    block.along = Math.max(block.along, at - LAYER_GAP);
    block.across = start + bottom - top;
    start = block.across + ROW_GAP;
    first = end;
  }
  return block;
}

/** @param {Cell[]} cells @param {Map<string, number>} centres @returns {[number, number]} */
function extent(cells, centres) {
  let [low, high] = [Infinity, -Infinity];
  for (const { id, across } of cells) {
    const centre = centres.get(id) ?? 0;
    [low, high] = [Math.min(low, centre - across / 2), Math.max(high, centre + across / 2)];
  }
  return [low, high];
}

/**
 * @param {(string | null)[]} scopes outer ones first @param {Map<string | null, Cell[]>} cells
 * @param {Map<string | null, Block>} blocks @param {boolean} isAcross
 */
function boxesOf(scopes, cells, blocks, isAcross) {
  /** @type {Record<string, Box>} */
  const boxes = {};
  for (const scope of scopes) {
    const frame = scope === null ? null : boxes[scope];
    const corner = frame
      ? { x: frame.x - frame.width / 2 + PADDING, y: frame.y - frame.height / 2 + PADDING }
      : { x: MARGIN, y: MARGIN };
    for (const { id, along, across } of cells.get(scope) ?? []) {
      const place = blocks.get(scope)?.places.get(id) ?? { along: 0, across: 0 };
      boxes[id] = isAcross
        ? { x: corner.x + place.across, y: corner.y + place.along, width: across, height: along }
        : { x: corner.x + place.along, y: corner.y + place.across, width: along, height: across };
    }
  }
  return boxes;
}

/** A curve from box to box. @param {Box} from @param {Box} to @param {boolean} isAcross */
function curve(from, to, isAcross) {
  const at = (/** @type {number} */ x, /** @type {number} */ y) =>
    `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (isAcross) {
    const [start, end] = [from.y + from.height / 2, to.y - to.height / 2];
    const bend = Math.max(LAYER_GAP, (end - start) / 2);
    return `M${at(from.x, start)}C${at(from.x, start + bend)} ${at(to.x, end - bend)} ${at(to.x, end)}`;
  }
  const [start, end] = [from.x + from.width / 2, to.x - to.width / 2];
  const bend = Math.max(LAYER_GAP, (end - start) / 2);
  return `M${at(start, from.y)}C${at(start + bend, from.y)} ${at(end - bend, to.y)} ${at(end, to.y)}`;
}
