/** The public names of playgrad, as the server describes them, and their relations. */

/**
 * @typedef {[name: string, fallback?: string | null, annotation?: string, text?: string]} Parameter
 *   the name has the stars of `*items` and `**options`
 * @typedef {object} Entry
 * @property {"c" | "f" | "m" | "p" | "o" | "d"} [k] class, function, method, property, module or data
 * @property {string} [d] the first sentence of the docstring
 * @property {Parameter[]} [p] parameters, of what can be called
 * @property {string} [r] the annotation of what it returns, or of a property
 * @property {string[]} [b] public bases of a class, the nearest first
 * @property {string} [a] the name that it is an alias of
 * @property {string[]} [x] further attributes of a module, which are not part of the public API
 * @typedef {{name: string, entry: Entry}} Named
 */

export class Names {
  /** @param {Record<string, Entry>} table entries by name, without `playgrad.`; the library is "" */
  constructor(table) {
    this.table = table;
    /** Names of classes by their last part: annotations have no modules. @type {Map<string, string>} */
    this.classes = new Map();
    /** Names directly below each name. @type {Map<string, string[]>} */
    this.below = new Map();
    for (const [name, entry] of Object.entries(table)) {
      if (name === "") continue;
      const cut = name.lastIndexOf(".");
      const owner = cut < 0 ? "" : name.slice(0, cut);
      this.below.set(owner, [...(this.below.get(owner) ?? []), name]);
      if (entry.k === "c") this.classes.set(name.slice(cut + 1), name);
    }
  }

  /** The name that `name` stands for: itself, unless it is an alias. @param {string} name */
  canonical(name) {
    return this.entry(name) ? (this.table[name].a ?? name) : name;
  }

  /** @param {string} name @returns {Entry | undefined} */
  entry(name) {
    const found = Object.hasOwn(this.table, name) ? this.table[name] : undefined;
    return found?.a === undefined ? found : this.table[found.a];
  }

  /** The class and its bases. @param {string} name @returns {string[]} */
  ancestry(name) {
    return [this.canonical(name), ...(this.entry(name)?.b ?? [])];
  }

  /** What is called `short` in a module, a class or a base of it. @param {string} owner @param {string} short @returns {Named | null} */
  member(owner, short) {
    for (const each of this.ancestry(owner)) {
      const name = each === "" ? short : `${each}.${short}`;
      const entry = this.entry(name);
      if (entry) return { name: this.canonical(name), entry };
    }
    return null;
  }

  /** All that is in a module, or in a class and its bases, by short name. @param {string} owner @returns {Map<string, Named>} */
  members(owner) {
    const found = new Map();
    for (const each of this.ancestry(owner)) {
      for (const name of this.below.get(each) ?? []) {
        const short = name.slice(name.lastIndexOf(".") + 1);
        if (!found.has(short)) found.set(short, { name, entry: this.entry(name) });
      }
    }
    return found;
  }

  /** @param {string} owner @param {string} short whether a module has it, though not as a public name */
  hasPrivately(owner, short) {
    return this.entry(owner)?.x?.includes(short) ?? false;
  }

  /** @param {string} name @param {string} base */
  isA(name, base) {
    return this.ancestry(name).includes(base);
  }

  /** The signature of what can be called, or null. @param {string} name @returns {Parameter[] | null} */
  parameters(name) {
    return this.entry(name)?.p ?? null;
  }
}

/** `playgrad.` and the name, as messages call it. @param {string} name */
export const fullName = (name) => (name === "" ? "playgrad" : `playgrad.${name}`);
