/** The networks of a program, and the items that they consist of. */

import { argumentOf, readCall } from "./calls.js";
import { makesLayer } from "./signatures.js";
import { children, elements, evaluate } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Source } from "./calls.js" */
/** @import { Known } from "./expressions.js" */
/** @import { Call, Item, Network, Place, Range } from "./types.js" */

/** @param {Node | Range} node @returns {Range} */
const rangeOf = ({ from, to }) => ({ from, to });

export class Networks {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    /** @type {Item[]} */
    this.items = [];
    /** The items that the code of an item names besides its inputs, by its id. @type {Map<number, number[]>} */
    this.needs = new Map();
    /** @type {Network[]} */
    this.list = [];
  }

  found() {
    /** @type {Set<number>} */
    const shown = new Set();
    /** @type {Network[]} */
    const networks = [];
    for (const network of this.list) {
      // A second model on the same tensors has only what it adds.
      const items = network.items.filter(({ id }) => !shown.has(id));
      for (const { id } of items) shown.add(id);
      const adds =
        items.length === network.items.length || items.some(({ type }) => type === "layer");
      if (adds) networks.push({ ...network, items });
    }
    return networks;
  }

  /**
   * @param {object} item
   * @param {Item["type"]} item.type
   * @param {Call | null} item.call
   * @param {Range} item.range
   * @param {Item["inputs"]} item.inputs
   * @param {number[]} [item.needed]
   * @param {Place} [item.place]
   * @returns {{is: "tensor", item: number}}
   */
  item({ type, call, range, inputs, needed = [], place = { type: "fixed" } }) {
    const id = this.items.length;
    const { from, to } = range;
    const text = this.source.text.slice(from, to).trimEnd();
    this.items.push({ type, id, call, text, inputs, place, from, to });
    this.needs.set(id, needed);
    return { is: "tensor", item: id };
  }

  /** @param {Node} node @param {Call} call @returns {Known} */
  sequential(node, call) {
    const given = argumentOf(call, "layers");
    const part = elements(children(node)[1]).find(
      (each) => each[each.length - 1].from === given?.at,
    );
    const list = part ? part[part.length - 1] : null;
    /** @type {Network} */
    const network = {
      type: "sequential",
      name: "",
      scope: "",
      items: [],
      input: null,
      targets: null,
      range: rangeOf(node),
      list: null,
    };
    if (list && (list.name === "ArrayExpression" || list.name === "TupleExpression")) {
      network.list = rangeOf(list);
      this.listed(network, list);
    } else if (call.arguments.length > 0 || call.starred) {
      const range = list ?? call.inside;
      network.items.push(this.made(null, range, { type: "fixed" }, []));
    }
    this.list.push(network);
    return { is: "network", network };
  }

  /** @param {Network} network @param {Node} list */
  listed(network, list) {
    const found = elements(list);
    const ranges = found.map((part) => ({ from: part[0].from, to: part[part.length - 1].to }));
    found.forEach((part, index) => {
      /** @type {Place} */
      const place = { type: "list", list: rangeOf(list), index, elements: ranges };
      network.items.push(
        this.made(part.length === 1 ? part[0] : null, ranges[index], place, network.items),
      );
    });
  }

  /** An item of a chain. @param {Node | null} node @param {Range} range @param {Place} place @param {Item[]} before */
  made(node, range, place, before) {
    const call = node && readCall(node, this.source);
    const isLayer =
      call && makesLayer(call.name) && call.name !== "nn.Sequential" && call.name !== "nn.Model";
    const type = call?.name === "nn.Input" ? "input" : isLayer ? "layer" : "code";
    const last = before[before.length - 1];
    const inputs = type === "input" ? [] : [last ? last.id : null];
    const { item } = this.item({ type, call: type === "code" ? null : call, range, inputs, place });
    return this.items[item];
  }

  /** `model.add(layer)`. @param {Network} network @param {Node} node @param {Node} statement @param {boolean} conditional */
  added(network, node, statement, conditional) {
    const given = elements(children(node)[1]);
    const only = given.length === 1 && given[0].length === 1 ? given[0][0] : null;
    const line = statement.parent?.name !== "StatementGroup";
    /** @type {Place} */
    const place = conditional
      ? { type: "fixed" }
      : { type: "add", statement: rangeOf(statement), line };
    // A loop adds a layer several times.
    const layer = conditional ? null : only;
    network.items.push(this.made(layer, only ?? statement, place, network.items));
  }

  /** `model.build(shape)`. @param {Network} network @param {Node} node */
  built(network, node) {
    const [part] = elements(children(node)[1]);
    const value =
      part?.length === 1 ? evaluate(part[0], this.source.text, this.source.constant) : null;
    if (value?.type !== "tuple" && value?.type !== "list") return;
    const shape = value.value.map((size) => (size.type === "int" ? size.value : null));
    network.input ??= { shape, dtype: "float32" };
  }

  /** @param {Call} call @param {Item["inputs"]} ends @returns {Known} */
  functional(call, ends) {
    /** @type {Set<number>} */
    const reached = new Set();
    const waiting = [...ends];
    while (waiting.length > 0) {
      const id = waiting.pop();
      if (id === null || id === undefined || reached.has(id)) continue;
      reached.add(id);
      waiting.push(...this.items[id].inputs, ...(this.needs.get(id) ?? []));
    }
    const items = [...reached].sort((a, b) => a - b).map((id) => this.items[id]);
    /** @type {Network} */
    const network = {
      type: "functional",
      name: "",
      scope: "",
      items,
      input: null,
      targets: null,
      range: rangeOf(call),
      list: null,
    };
    this.list.push(network);
    return { is: "network", network };
  }
}
