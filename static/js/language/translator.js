/** Finds playgrad's equivalent of a name of Keras, TensorFlow or PyTorch, in the table of the bridge. */

/**
 * @import { Names } from "./names.js"
 * @import { Foreign, OtherLibraries, Value } from "./program.js"
 *
 * @typedef {object} Rule see app/playgrad/bridge/table.py
 * @property {string} [to]
 * @property {string} [args]
 * @property {string} [set]
 * @property {boolean} [list]
 * @property {string} [call]
 * @property {string} [params]
 * @property {string} [value]
 * @property {string} [no]
 * @property {boolean} [drop]
 *
 * @typedef {object} Table
 * @property {Record<string, string>} roots
 * @property {Record<string, string>} wellKnown
 * @property {Record<string, string>} spaces
 * @property {string[]} importable
 * @property {string[]} libraries packages that the page does not have
 * @property {Record<string, string>} results paths of the results of calls
 * @property {Record<string, Rule>} rules
 * @property {Record<string, string>} absent
 * @property {Record<string, Record<string, Rule>>} arguments
 *
 * @typedef {{path: string, rule: Rule}} Translation
 */

/** @implements {OtherLibraries} */
export class Translator {
  /** @param {Table} table @param {Names} names */
  constructor(table, names) {
    this.table = table;
    this.names = names;
    this.libraries = new Set(table.libraries);
    this.absent = Object.entries(table.absent).map(([pattern, text]) => ({
      pattern: new RegExp(`^(?:${pattern})$`),
      text,
      isGeneral: pattern.endsWith("\\..*"),
    }));
  }

  /** Whether a dotted name is of a library that the page does not have. @param {string} path */
  isOther(path) {
    return this.libraries.has(path.split(".")[0]);
  }

  /** The path under which the table has a name. @param {string} path */
  canonical(path) {
    for (const [other, root] of Object.entries(this.table.roots)) {
      if (path === other || path.startsWith(`${other}.`)) return root + path.slice(other.length);
    }
    return path;
  }

  /** @param {string} name @returns {Value | null} */
  wellKnown(name) {
    const { wellKnown } = this.table;
    if (Object.hasOwn(wellKnown, name)) return { kind: "foreign", paths: [wellKnown[name]] };
    if (!/^[A-Z]\w/.test(name)) return null;
    const paths = ["keras.layers", "keras.optimizers", "keras.callbacks"].map(
      (space) => `${space}.${name}`,
    );
    const known = paths.filter((path) => this.#exact(path));
    return known.length ? { kind: "foreign", paths: known } : null;
  }

  /** @param {string} path @returns {Value | null} */
  imported(path) {
    if (!this.isOther(path)) return null;
    const to = this.importable(path);
    return to === null
      ? { kind: "foreign", paths: [this.canonical(path)] }
      : { kind: "name", name: to };
  }

  /** The name of playgrad that an import can bring instead, with the rest of the program unchanged. @param {string} path @returns {string | null} */
  importable(path) {
    const name = this.canonical(path);
    const { importable, spaces } = this.table;
    if (importable.includes(name)) return spaces[name];
    if (!importable.includes(name.slice(0, name.lastIndexOf(".")))) return null;
    const rule = this.#exact(name);
    return rule?.to !== undefined && rule.args === undefined && rule.set === undefined
      ? rule.to
      : null;
  }

  /** @param {string} owner @param {string} short @returns {Foreign | null} */
  missing(owner, short) {
    const isModule = this.names.entry(owner)?.k === "o";
    if (!isModule) {
      const path = this.names
        .ancestry(owner)
        .map((each) => `${each}.${short}`)
        .find((each) => this.#exact(each));
      return path === undefined ? null : { kind: "foreign", paths: [path] };
    }
    const spaces = Object.entries(this.table.spaces).filter(([, ours]) => ours === owner);
    const paths = spaces.map(([space]) => `${space}.${short}`);
    // A module, of which the rest of the name says more, or a name that the table has.
    const known = paths.filter((path) => this.#exact(path) || this.#isModule(path));
    return { kind: "foreign", paths: [...known, ...paths], guessed: known.length === 0 };
  }

  /** @param {string} path */
  #isModule(path) {
    if (Object.hasOwn(this.table.roots, path)) return true;
    return Object.keys(this.table.spaces).some(
      (space) => space === path || space.startsWith(`${path}.`),
    );
  }

  /** A member that objects of which nothing is known have in the libraries of the program. @param {string} short @param {ReadonlySet<string>} used @returns {Foreign | null} */
  anyMember(short, used) {
    const path = `torch.Tensor.${short}`;
    const isKnown = used.has("torch") && Object.hasOwn(this.table.rules, path);
    return isKnown ? { kind: "foreign", paths: [path] } : null;
  }

  /** @param {Foreign} callee @returns {Value | null} */
  result(callee) {
    const to = this.translate(callee.paths)?.rule.to;
    const entry = to === undefined ? undefined : this.names.entry(to);
    if (to !== undefined && entry?.k === "c")
      return { kind: "instance", of: this.names.canonical(to) };
    const { results } = this.table;
    const made = callee.paths.map((path) => this.canonical(path)).find((path) => path in results);
    return made === undefined ? null : { kind: "foreign", paths: [results[made]] };
  }

  /** The translation of a name, by the first of its paths that has one. @param {string[]} paths @returns {Translation | null} */
  translate(paths) {
    for (const path of paths) {
      const rule = this.#exact(path);
      if (rule) return { path, rule };
    }
    return null;
  }

  /** Why there is nothing like it, and the nearest way; empty if nothing is known. @param {Foreign} value */
  reason({ paths, guessed = false }) {
    for (const path of paths) {
      const found = this.absent.find(
        ({ pattern, isGeneral }) => pattern.test(this.canonical(path)) && !(guessed && isGeneral),
      );
      if (found) return found.text;
    }
    return "";
  }

  /** @param {string} path @returns {Rule | null} */
  #exact(path) {
    const { rules, spaces } = this.table;
    const canonical = this.canonical(path);
    if (canonical !== path) return this.#exact(canonical);
    if (Object.hasOwn(rules, path)) return rules[path];
    if (Object.hasOwn(spaces, path)) return spaces[path] === "" ? null : { to: spaces[path] };
    for (let cut = path.lastIndexOf("."); cut > 0; cut = path.lastIndexOf(".", cut - 1)) {
      const space = path.slice(0, cut);
      if (!Object.hasOwn(spaces, space)) continue;
      const to = `${spaces[space]}.${path.slice(cut + 1)}`.replace(/^\./, "");
      return this.names.entry(to) ? { to: this.names.canonical(to) } : null;
    }
    return null;
  }

  /** What the table says of an argument that a function or a class does not take. @param {string} name @param {string} argument @returns {Rule | null} */
  argument(name, argument) {
    const cut = name.lastIndexOf(".");
    const member = cut < 0 ? "" : name.slice(cut);
    const owners =
      this.names.entry(name)?.k === "m"
        ? this.names.ancestry(name.slice(0, cut)).map((each) => each + member)
        : this.names.ancestry(name);
    for (const owner of owners) {
      const rules = this.table.arguments[owner];
      if (rules && Object.hasOwn(rules, argument)) return rules[argument];
    }
    const { "*": general } = this.table.arguments;
    if (this.names.entry(name)?.k !== "f" || !Object.hasOwn(general, argument)) return null;
    const rule = general[argument];
    const isFitting =
      rule.to === undefined ||
      this.names.parameters(name)?.some(([parameter]) => parameter === rule.to);
    return isFitting ? rule : null;
  }
}
