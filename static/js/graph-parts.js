/**
 * Divides collapsed scopes so that the drawing of an acyclic graph is acyclic.
 *
 * The scope of a training step has the batch at its beginning and the loss at its end; as one box it would
 * make all layers between them look like a loop.
 */

/** @import { Graph } from "../engine/messages.js" */

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
  const names = sorted(graph);
  /** @type {Map<string, number>} */
  const ranks = new Map();
  for (const name of names) {
    const box = boxOf.get(name) ?? name;
    if (!ranks.has(box)) ranks.set(box, ranks.size);
  }
  const rank = (/** @type {string} */ name) => ranks.get(boxOf.get(name) ?? name) ?? 0;
  const before = neighbours(graph, "to", "from");
  /** @type {Map<string, number>} */
  const levels = new Map();
  for (const name of names) {
    const rises = (before.get(name) ?? []).map((each) => (levels.get(each) ?? 0) + Number(rank(each) > rank(name)));
    levels.set(name, Math.max(0, ...rises));
  }
  const groupOf = (/** @type {string} */ name) => `${boxOf.get(name) ?? name}\n${levels.get(name)}`;
  const groups = new Map(names.map((name) => [groupOf(name), { box: boxOf.get(name) ?? name, level: levels.get(name) ?? 0 }]));
  const edges = new Set(graph.edges.map(({ from, to }) => [groupOf(from), groupOf(to)].join("\n\n")));
  const parts = joined(groups, [...edges].map((edge) => {
    const [from, to] = edge.split("\n\n");
    return { from, to };
  }));
  return new Map(names.map((name) => [name, parts.get(groupOf(name)) ?? 0]));
}

/**
 * Join the groups of each box as far as no cycle appears.
 * @param {ReadonlyMap<string, {box: string, level: number}>} groups by id
 * @param {{from: string, to: string}[]} edges between them
 * @returns {Map<string, number>} the part of each group
 */
function joined(groups, edges) {
  /** @type {Map<string, string[]>} */
  const boxes = new Map();
  for (const [id, { box }] of groups) boxes.set(box, [...(boxes.get(box) ?? []), id]);
  /** @type {Map<string, number>} */
  const parts = new Map();
  const level = (/** @type {string} */ id) => groups.get(id)?.level ?? 0;
  for (const ids of boxes.values()) ids.sort((a, b) => level(a) - level(b)).forEach((id, part) => parts.set(id, part));
  /** @param {string[]} ids @param {1 | -1} by */
  const move = (ids, by) => ids.forEach((id) => parts.set(id, (parts.get(id) ?? 0) + by));
  for (const ids of boxes.values()) {
    for (let part = ids.length - 1; part > 0; part -= 1) {
      const later = ids.slice(part);
      move(later, -1);
      if (!isAcyclic(groups, edges, parts)) move(later, 1);
    }
  }
  return parts;
}

/**
 * @param {ReadonlyMap<string, {box: string}>} groups
 * @param {{from: string, to: string}[]} edges
 * @param {ReadonlyMap<string, number>} parts
 */
function isAcyclic(groups, edges, parts) {
  const id = (/** @type {string} */ group) => `${groups.get(group)?.box}\n${parts.get(group)}`;
  const between = edges.map(({ from, to }) => ({ from: id(from), to: id(to) })).filter(({ from, to }) => from !== to);
  const nodes = [...new Set([...groups.keys()].map(id))].map((name) => ({ name }));
  return sorted({ nodes, edges: between }).length === nodes.length;
}

/**
 * Names in topological order; those on a cycle are missing.
 * @param {{nodes: readonly {name: string}[], edges: readonly {from: string, to: string}[]}} graph
 */
function sorted(graph) {
  const after = neighbours(graph, "from", "to");
  /** @type {Map<string, number>} */
  const waits = new Map(graph.nodes.map(({ name }) => [name, 0]));
  for (const { to } of graph.edges) waits.set(to, (waits.get(to) ?? 0) + 1);
  const ready = graph.nodes.map(({ name }) => name).filter((name) => waits.get(name) === 0);
  for (const name of ready) { // grows while it is read
    for (const next of after.get(name) ?? []) {
      const left = (waits.get(next) ?? 0) - 1;
      waits.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return ready;
}

/**
 * @param {{edges: readonly {from: string, to: string}[]}} graph
 * @param {"from" | "to"} end
 * @param {"from" | "to"} other
 */
function neighbours({ edges }, end, other) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const edge of edges) {
    const known = found.get(edge[end]);
    if (known) known.push(edge[other]);
    else found.set(edge[end], [edge[other]]);
  }
  return found;
}
