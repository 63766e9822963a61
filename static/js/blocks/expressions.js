/** The values of expressions: data, layers, tensors between them, and networks. */

import { argumentOf, readCall } from "./calls.js";
import { arrayElement, arrayMethod, dataOf, loadedData } from "./data.js";
import { Networks } from "./networks.js";
import { makesLayer } from "./signatures.js";
import { children, elements, evaluate, isNumber, walk } from "./syntax.js";
import { Trainings } from "./trainings.js";

/** @import { Node } from "./syntax.js" */
/** @import { Source } from "./calls.js" */
/** @import { Call, Item, Network, Place, Program, Samples } from "./types.js" */

/**
 * @typedef {(
 *   | {is: "array", samples: Samples}
 *   | {is: "tensor", item: number, part?: number}
 *   | {is: "tuple", items: Known[]}
 *   | {is: "layer", call: Call}
 *   | {is: "network", network: Network}
 *   | null
 * )} Known what is known of a value; `part` is which of the results of an item it is
 */
/**
 * @typedef {object} Context
 * @property {Map<string, Known>} values by the name
 * @property {string} scope the function; "" for the module
 * @property {boolean} conditional whether the code runs several times, or perhaps not
 * @property {Node} [statement] what the expression is in
 * @property {string} [target] the one name that the statement assigns
 */

export class Expressions {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.networks = new Networks(source);
    this.trainings = new Trainings(source);
    /** @type {Program["data"]} */
    this.data = [];
    /** @type {Call | null} */
    this.seed = null;
  }

  /** @returns {Pick<Program, "data" | "networks" | "trainings" | "seed">} */
  found() {
    const { data, seed } = this;
    return { data, seed, networks: this.networks.found(), trainings: this.trainings.found() };
  }

  /** @param {Node} node @param {Context} context @returns {Known} */
  value(node, context) {
    switch (node.name) {
      case "VariableName":
        return context.values.get(this.source.text.slice(node.from, node.to)) ?? null;
      case "ParenthesizedExpression":
        return this.value(children(node)[1], context);
      case "TupleExpression":
      case "ArrayExpression":
        return {
          is: "tuple",
          items: elements(node).map((part) =>
            part.length === 1 ? this.value(part[0], context) : null,
          ),
        };
      case "CallExpression":
        return this.call(node, context);
      case "MemberExpression":
        return this.member(node, context);
      case "BinaryExpression":
        return this.arithmetic(node, context);
      default:
        return this.code(node, context);
    }
  }

  /** @param {Node} node @param {Context} context @returns {Known} */
  call(node, context) {
    const call = readCall(node, this.source);
    if (call) return this.libraryCall(node, call, context);
    const [callee, list] = children(node);
    if (callee.name === "MemberExpression") {
      const [object, dot, property] = children(callee);
      if (dot.name === "." && property) {
        return this.method(
          node,
          object,
          this.source.text.slice(property.from, property.to),
          context,
        );
      }
    }
    const layer = this.value(callee, context);
    if (layer?.is === "layer" && list?.name === "ArgList")
      return this.apply(node, layer.call, context);
    return this.code(node, context);
  }

  /** @param {Node} node @param {Call} call @param {Context} context @returns {Known} */
  libraryCall(node, call, context) {
    if (call.name.startsWith("data.")) {
      const isLoad = call.name === "data.load";
      const known = isLoad ? loadedData(call, this.source.brought) : dataOf(call.name, call);
      if ((known || isLoad) && !context.conditional)
        this.data.push({ ...call, target: context.target ?? "" });
      return known;
    }
    if (call.name === "nn.Sequential") return this.networks.sequential(node, call);
    if (call.name === "nn.Model") return this.model(node, call, context);
    if (call.name === "nn.Input") {
      if (context.conditional) return null;
      return this.networks.item({ type: "input", call, range: node, inputs: [] });
    }
    if (makesLayer(call.name)) return { is: "layer", call };
    if (call.name === "reset_default_graph") {
      if (context.scope === "" && !context.conditional) this.seed ??= call;
      return null;
    }
    if (call.name.startsWith("optim.")) this.trainings.note(call);
    return this.code(node, context);
  }

  /** A layer called on tensors. @param {Node} node @param {Call} call @param {Context} context @returns {Known} */
  apply(node, call, context) {
    const list = children(node)[1];
    const given = elements(list);
    /** @type {(number | null)[]} */
    const inputs = [];
    for (const part of given) {
      if (part.length !== 1) continue; // keyword arguments such as initial_state
      inputs.push(...this.tensors(this.value(part[0], context)));
    }
    const needed = this.tensorsIn(node, context);
    if (context.conditional || (inputs.every((each) => each === null) && needed.length === 0))
      return null;
    const place = this.placeOf(node, given, call, context);
    return this.networks.item({ type: "layer", call, range: node, inputs, needed, place });
  }

  /** @param {Node} node @param {Node[][]} given @param {Call} call @param {Context} context @returns {Place} */
  placeOf(node, given, call, context) {
    const { statement, target } = context;
    // A layer that is created elsewhere may be called more than once.
    const isHere = children(node)[0].from === call.from && children(node)[0].to === call.to;
    if (!isHere || !statement) return { type: "fixed" };
    const only = given.length === 1 && given[0].length === 1 ? given[0][0] : null;
    const isOuter = statement.lastChild?.from === node.from && statement.lastChild.to === node.to;
    return {
      type: "call",
      call: { from: node.from, to: node.to },
      argument: only && only.name !== "ArrayExpression" ? { from: only.from, to: only.to } : null,
      statement: { from: statement.from, to: statement.to },
      target: isOuter ? (target ?? "") : "",
      line: statement.parent?.name !== "StatementGroup",
    };
  }

  /** @param {Node} node @param {Call} call @param {Context} context @returns {Known} */
  model(node, call, context) {
    const [inputs, outputs] = elements(children(node)[1]).map((part) =>
      this.tensors(this.value(part[part.length - 1], context)),
    );
    if (!outputs || context.conditional) return null;
    return this.networks.functional(call, [...(inputs ?? []), ...outputs]);
  }

  /** @param {Node} node @param {Node} object @param {string} method @param {Context} context @returns {Known} */
  method(node, object, method, context) {
    const value = this.value(object, context);
    const name =
      object.name === "VariableName" ? this.source.text.slice(object.from, object.to) : "";
    if (method === "compile" || method === "fit") {
      const call = readCall(node, this.source, `Model.${method}`);
      const network = value?.is === "network" ? value.network : null;
      if (call && name && !this.source.names.imported.has(name)) {
        this.trainings.add(call, name, context.scope, network);
        if (method === "fit" && network) {
          network.input ??= this.arrayOf("x", node, call, context);
          network.targets ??= this.arrayOf("y", node, call, context);
        }
      }
      return null;
    }
    if (value?.is === "network" && context.statement) {
      if (method === "add")
        this.networks.added(value.network, node, context.statement, context.conditional);
      if (method === "build") this.networks.built(value.network, node);
      return null;
    }
    if (value?.is === "array") return arrayMethod(value.samples, method, node, this.source);
    return this.code(node, context);
  }

  /** An array that `fit` takes. @param {string} parameter @param {Node} node @param {Call} call @param {Context} context */
  arrayOf(parameter, node, call, context) {
    const given = argumentOf(call, parameter);
    let value = /** @type {Known} */ (null);
    for (const part of elements(children(node)[1])) {
      const last = part[part.length - 1];
      if (given && last.from === given.at) value = this.value(last, context);
    }
    return value?.is === "array" ? value.samples : null;
  }

  /** @param {Node} node @param {Context} context @returns {Known} */
  member(node, context) {
    const [object, bracket, ...rest] = children(node);
    const value = this.value(object, context);
    if (bracket.name === "[" && value?.is === "array")
      return arrayElement(value.samples, rest.slice(0, -1));
    if (bracket.name === "[" && value?.is === "tuple" && rest[0]?.name === "Number") {
      return value.items[Number(this.source.text.slice(rest[0].from, rest[0].to))] ?? null;
    }
    return this.code(node, context);
  }

  /** @param {Node} node @param {Context} context @returns {Known} */
  arithmetic(node, context) {
    const operands = this.operands(node);
    const values = operands.map((each) => this.value(each, context));
    const array = values.find((value) => value?.is === "array");
    const isPlain = operands.every(
      (each, i) =>
        values[i] !== null || isNumber(evaluate(each, this.source.text, this.source.constant)),
    );
    if (array?.is === "array") {
      const others = values.filter((value) => value !== null && value !== array);
      return isPlain && others.length === 0
        ? { is: "array", samples: { shape: array.samples.shape, dtype: "float32" } }
        : null;
    }
    const isJoin =
      isPlain && values.every((value) => value === null || (value.is === "tensor" && !value.part));
    if (!isJoin || !values.some((value) => value?.is === "tensor")) return this.code(node, context);
    if (context.conditional) return null;
    const inputs = values.flatMap((value) => (value?.is === "tensor" ? [value.item] : []));
    return this.networks.item({ type: "join", call: null, range: node, inputs });
  }

  /** @param {Node} node @returns {Node[]} */
  operands(node) {
    if (node.name === "ParenthesizedExpression") return this.operands(children(node)[1]);
    if (node.name !== "BinaryExpression") return [node];
    const [left, , right] = children(node);
    return [left, right].flatMap((each) => this.operands(each));
  }

  /** Code that cannot be read: a block, if it takes tensors. @param {Node} node @param {Context} context @returns {Known} */
  code(node, context) {
    const inputs = this.tensorsIn(node, context);
    if (inputs.length === 0 || context.conditional) return null;
    return this.networks.item({ type: "code", call: null, range: node, inputs });
  }

  /** The items whose tensors a piece of code names. @param {Node} node @param {Context} context */
  tensorsIn(node, context) {
    /** @type {Set<number>} */
    const found = new Set();
    walk(node, (each) => {
      if (each.name !== "VariableName") return;
      for (const item of this.tensors(this.value(each, context)))
        if (item !== null) found.add(item);
    });
    return [...found];
  }

  /** @param {Known} value @returns {Item["inputs"]} */
  tensors(value) {
    if (value?.is === "tensor") return [value.part ? null : value.item];
    return value?.is === "tuple" ? value.items.flatMap((each) => this.tensors(each)) : [null];
  }
}
