/**
 * Divides collapsed scopes so that the drawing of an acyclic graph is acyclic.
 *
 * The scope of a training step has the batch at its beginning and the loss at its end; as one box it would
 * make all layers between them look like a loop.
 */

/** @import { Graph } from "../../../engine/messages.js" */
/** Of a node on a cycle. */
const NO_GROUP = -1;

/** @typedef {{box: number, level: number}} Group the nodes of a box with the same level */

/**
 * The part of its box, from 0, that each node belongs to.
 *
 * Nodes are given levels first: a path that goes back to an earlier box rises to the next one, so boxes that are
 * divided by levels cannot form a cycle. Then parts are joined again as long as none appears.
 * @param {Graph} graph
 * @param {ReadonlyMap<string, string>} boxOf node name → id of its box
 * @returns {Map<string, number>}
 */
export function partsOf(graph, boxOf) {
  const places = new Map(graph.nodes.map(({ name }, place) => [name, place]));
  /** @type {[number, number][]} */
  const edges = [];
  for (const { from, to } of graph.edges) {
    const [start, end] = [places.get(from), places.get(to)];
    if (start !== undefined && end !== undefined) edges.push([start, end]);
  }
  const after = neighbours(graph.nodes.length, edges);
  const order = sorted(graph.nodes.length, after);
  /** Boxes by the order in which they begin to compute. @type {Map<string, number>} */
  const ranks = new Map();
  const boxes = new Int32Array(graph.nodes.length);
  for (const node of order) {
    const box = boxOf.get(graph.nodes[node].name) ?? graph.nodes[node].name;
    if (!ranks.has(box)) ranks.set(box, ranks.size);
    boxes[node] = ranks.get(box) ?? 0;
  }
  const levels = new Int32Array(graph.nodes.length);
  for (const node of order) {
    for (const next of after[node]) {
      levels[next] = Math.max(levels[next], levels[node] + Number(boxes[node] > boxes[next]));
    }
  }
  /** @type {Map<number, number>} */
  const numbers = new Map();
  /** @type {Group[]} */
  const groups = [];
  const groupOf = new Int32Array(graph.nodes.length).fill(NO_GROUP);
  for (const node of order) {
    const key = boxes[node] * graph.nodes.length + levels[node];
    if (!numbers.has(key))
      numbers.set(key, groups.push({ box: boxes[node], level: levels[node] }) - 1);
    groupOf[node] = numbers.get(key) ?? NO_GROUP;
  }
  const parts = joined(
    groups,
    edges.map(([from, to]) => [groupOf[from], groupOf[to]]),
  );
  return new Map(order.map((node) => [graph.nodes[node].name, parts[groupOf[node]]]));
}

/**
 * Join the groups of each box as far as no cycle appears.
 * @param {readonly Group[]} groups
 * @param {[number, number][]} edges between them
 * @returns {number[]} the part of each group
 */
function joined(groups, edges) {
  const after = groups.map(() => /** @type {Set<number>} */ (new Set()));
  const before = groups.map(() => /** @type {Set<number>} */ (new Set()));
  for (const [from, to] of edges) {
    if (from === to || from === NO_GROUP || to === NO_GROUP) continue;
    after[from].add(to);
    before[to].add(from);
  }
  /** @type {number[][]} */
  const boxes = [];
  for (const [group, { box }] of groups.entries()) (boxes[box] ??= []).push(group);
  const parts = groups.map(() => 0);
  for (const box of boxes) {
    const ids = box.sort((a, b) => groups[a].level - groups[b].level);
    // Each group that begins a part, and the groups that were joined to it.
    const heads = ids.map((id) => [id]);
    for (let part = heads.length - 1; part > 0; part -= 1) {
      const [[kept], [gone]] = [heads[part - 1], heads[part]];
      if (leadsAround(after, kept, gone) || leadsAround(after, gone, kept)) continue;
      merge(after, before, kept, gone);
      heads[part - 1].push(...heads.splice(part, 1)[0]);
    }
    for (const [part, members] of heads.entries()) for (const id of members) parts[id] = part;
  }
  return parts;
}

/** Whether a path leads from one group to another through others. @param {Set<number>[]} after @param {number} from @param {number} to */
function leadsAround(after, from, to) {
  const stack = [...after[from]].filter((next) => next !== to);
  const seen = new Set(stack);
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const next of after[at]) {
      if (next === to) return true;
      if (!seen.has(next)) {
        seen.add(next);
        stack.push(next);
      }
    }
  }
  return false;
}

/** Give the neighbours of the group `gone` to `kept`. @param {Set<number>[]} after @param {Set<number>[]} before @param {number} kept @param {number} gone */
function merge(after, before, kept, gone) {
  for (const [ahead, back] of [
    [after, before],
    [before, after],
  ]) {
    for (const next of ahead[gone]) {
      back[next].delete(gone);
      if (next === kept) continue;
      ahead[kept].add(next);
      back[next].add(kept);
    }
    ahead[gone].clear();
    ahead[kept].delete(gone);
  }
}

/** Numbers in topological order, without the ones on a cycle. @param {number} count @param {number[][]} after */
function sorted(count, after) {
  const waits = new Int32Array(count);
  for (const nexts of after) for (const next of nexts) waits[next] += 1;
  const ready = Array.from({ length: count }, (_, at) => at).filter((at) => waits[at] === 0);
  for (const at of ready) {
    // grows while it is read
    for (const next of after[at]) {
      waits[next] -= 1;
      if (waits[next] === 0) ready.push(next);
    }
  }
  return ready;
}

/** @param {number} count @param {[number, number][]} edges */
function neighbours(count, edges) {
  const after = Array.from({ length: count }, () => /** @type {number[]} */ ([]));
  for (const [from, to] of edges) after[from].push(to);
  return after;
}
