/** A program as its syntax tree shows it: the meaning of its names, without running it. */

import { readBindings } from "./bindings.js";

/**
 * @import { Tree, SyntaxNode } from "./tree.js"
 * @import { Names } from "./names.js"
 * @import { Binding } from "./bindings.js"
 *
 * @typedef {{kind: "name", name: string}} NamedValue something of playgrad: a module, class, function, method
 * @typedef {{kind: "instance", of: string}} Instance an object of a class of playgrad
 * @typedef {{kind: "list", of: string}} ListValue a list of such objects
 * @typedef {{kind: "foreign", paths: string[], guessed?: boolean}} Foreign something of another
 *   library, or missing in playgrad: by the names that it may be known by, most likely first;
 *   `guessed`: it may just be misspelt
 * @typedef {NamedValue | Instance | ListValue | Foreign} Value
 *
 * @typedef {object} OtherLibraries what is known of their names
 * @property {(name: string) => Value | null} wellKnown a name that programs use without importing it
 * @property {(path: string) => Value | null} imported
 * @property {(owner: string, short: string) => Value | null} missing a name that playgrad's `owner` lacks
 * @property {(short: string, used: ReadonlySet<string>) => Value | null} anyMember a member that their objects have
 * @property {(callee: Foreign) => Value | null} result
 */

const DEEPEST = 24;

export class Program {
  /**
   * @param {string} code
   * @param {Tree} tree
   * @param {Names} names
   * @param {OtherLibraries | null} [others]
   */
  constructor(code, tree, names, others = null) {
    this.code = code;
    this.tree = tree;
    this.names = names;
    this.others = others;
    /** @type {Binding[]} */
    this.bindings = readBindings(tree, code);
    /** The packages that it imports. @type {ReadonlySet<string>} */
    this.packages = new Set(
      this.bindings.flatMap(({ module }) => (module === undefined ? [] : [module.split(".")[0]])),
    );
  }

  /** @param {{from: number, to: number}} node */
  text(node) {
    return this.code.slice(node.from, node.to);
  }

  /** The binding of a variable that is in force at a place. @param {string} name @param {number} at @returns {Binding | null} */
  binding(name, at) {
    let best = null;
    for (const each of this.bindings) {
      if (each.name !== name || at < each.scope.from || at > each.scope.to) continue;
      const isOwn = each.value && each.value.from <= at && at < each.value.to && !each.element;
      if (isOwn) continue; // `x = f(x)` reads what was there before
      const closer = best === null || each.scope.from > best.scope.from;
      const later = best !== null && each.scope.from === best.scope.from && each.from <= at;
      if (closer || later) best = each;
    }
    return best;
  }

  /** @param {string} name @param {number} at @param {number} [depth] @returns {Value | null} */
  variable(name, at, depth = 0) {
    const binding = this.binding(name, at);
    if (!binding) return this.others?.wellKnown(name) ?? null;
    if (binding.module !== undefined) return this.imported(binding.module);
    if (!binding.value || depth > DEEPEST) return null;
    const value = this.value(binding.value, depth + 1);
    if (binding.element) return value?.kind === "list" ? { kind: "instance", of: value.of } : null;
    return value;
  }

  /** What a dotted name in an import statement stands for. @param {string} path @returns {Value | null} */
  imported(path) {
    if (path === "playgrad") return { kind: "name", name: "" };
    if (!path.startsWith("playgrad.")) return this.others?.imported(path) ?? null;
    /** @type {Value | null} */
    let value = { kind: "name", name: "" };
    for (const part of path.split(".").slice(1)) value = this.attribute(value, part);
    return value;
  }

  /** @param {SyntaxNode} node an expression @param {number} [depth] @returns {Value | null} */
  value(node, depth = 0) {
    if (depth > DEEPEST) return null;
    switch (node.name) {
      case "VariableName":
        return this.variable(this.text(node), node.from, depth);
      case "ParenthesizedExpression":
        return node.firstChild?.nextSibling
          ? this.value(node.firstChild.nextSibling, depth + 1)
          : null;
      case "MemberExpression":
        return this.#member(node, depth);
      case "CallExpression":
        return node.firstChild ? this.result(this.value(node.firstChild, depth + 1)) : null;
      default:
        return null;
    }
  }

  /** @param {SyntaxNode} node @param {number} depth @returns {Value | null} */
  #member(node, depth) {
    const owner = node.firstChild ? this.value(node.firstChild, depth + 1) : null;
    const property = node.lastChild;
    if (!property) return null;
    if (!owner)
      return property.name === "PropertyName" && !this.#isOfModule(node.firstChild)
        ? (this.others?.anyMember(this.text(property), this.packages) ?? null)
        : null;
    if (property.name === "PropertyName") return this.attribute(owner, this.text(property));
    if (owner.kind !== "list") return null;
    const isSlice = node.getChildren(":").length > 0;
    return isSlice ? owner : { kind: "instance", of: owner.of };
  }

  /** Whether something is a module, or in one, that is neither playgrad nor another library, such as NumPy. @param {SyntaxNode | null} node @returns {boolean} */
  #isOfModule(node) {
    if (node?.name === "MemberExpression") return this.#isOfModule(node.firstChild);
    return (
      node?.name === "VariableName" &&
      this.binding(this.text(node), node.from)?.module !== undefined
    );
  }

  /** @param {Value | null} owner @param {string} short @returns {Value | null} */
  attribute(owner, short) {
    if (owner?.kind === "foreign" && /^(?:torch\.Tensor|nn|optim|Model)\./.test(owner.paths[0]))
      return this.others?.anyMember(short, this.packages) ?? null;
    if (owner?.kind === "foreign")
      return { ...owner, paths: owner.paths.map((path) => `${path}.${short}`) };
    if (owner?.kind !== "name" && owner?.kind !== "instance") return null;
    const of = owner.kind === "name" ? owner.name : owner.of;
    const found = this.names.member(of, short);
    if (!found) return this.#missing(of, short, owner.kind === "instance");
    if (owner.kind === "instance" && found.entry.k === "p") return this.typed(found.entry.r, of);
    return { kind: "name", name: found.name };
  }

  /** @param {string} owner @param {string} short @param {boolean} isInstance @returns {Value | null} */
  #missing(owner, short, isInstance) {
    if (this.names.hasPrivately(owner, short) || short.startsWith("__")) return null;
    return (
      this.others?.missing(owner, short) ??
      (isInstance ? this.others?.anyMember(short, this.packages) : null) ??
      null
    );
  }

  /** What a call returns. @param {Value | null} callee @returns {Value | null} */
  result(callee) {
    if (callee?.kind === "foreign") return this.others?.result(callee) ?? null;
    if (callee?.kind === "instance") {
      const makesTensors =
        this.names.isA(callee.of, "nn.Layer") || this.names.isA(callee.of, "Model");
      return makesTensors ? { kind: "instance", of: "Tensor" } : null;
    }
    if (callee?.kind !== "name") return null;
    const entry = this.names.entry(callee.name);
    if (entry?.k === "c") return { kind: "instance", of: callee.name };
    return this.typed(entry?.r, callee.name.slice(0, callee.name.lastIndexOf(".")));
  }

  /** The value of an annotation. @param {string | undefined} annotation @param {string} owner for `Self` @returns {Value | null} */
  typed(annotation, owner) {
    const text = (annotation ?? "").replace(/ \| None$/, "").replace(/^["']|["']$/g, "");
    if (text === "Self") return { kind: "instance", of: owner };
    const items = /^(?:list|Sequence|tuple)\[(\w+)(?:, \.\.\.)?\]$/.exec(text);
    const of = this.names.classes.get(items ? items[1] : text);
    return of === undefined ? null : { kind: items ? "list" : "instance", of };
  }
}
