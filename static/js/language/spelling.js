/** How a program writes names of playgrad: by the imports that it has, or with another. */

/** @import { Program } from "./program.js" */
/** @typedef {{from: number, to: number, insert: string}} Change */

/** The imports that programs have by convention. */
const USUAL = {
  "": "import playgrad as pg",
  nn: "from playgrad import nn",
  np: "import numpy as np",
};

export class Speller {
  /** @param {Program} program @param {number} at the place for which it writes */
  constructor(program, at) {
    this.program = program;
    this.at = at;
    /** Lines of imports that the written code needs. @type {Set<string>} */
    this.imports = new Set();
  }

  /** A name of playgrad, as the program can write it here. @param {string} name */
  name(name) {
    const direct = this.#boundTo(name);
    if (direct) return direct;
    const cut = name.indexOf(".");
    const module = cut < 0 ? "" : name.slice(0, cut);
    const alias = module && this.#boundTo(module);
    if (alias) return alias + name.slice(module.length);
    const nnIsFree = !this.program.bindings.some((each) => each.name === "nn");
    if (module === "nn" && nnIsFree) {
      this.imports.add(USUAL.nn);
      return name;
    }
    let root = this.#boundTo("");
    if (!root) {
      this.imports.add(USUAL[""]);
      root = "pg";
    }
    return name === "" ? root : `${root}.${name}`;
  }

  /** NumPy's name. */
  numpy() {
    const bound = this.program.bindings.find((each) => each.module === "numpy");
    if (bound) return bound.name;
    this.imports.add(USUAL.np);
    return "np";
  }

  /** A variable that is bound to exactly this. @param {string} name */
  #boundTo(name) {
    const { program } = this;
    const canonical = program.names.canonical(name);
    const names = new Set(
      program.bindings.filter((each) => each.module !== undefined).map((each) => each.name),
    );
    for (const variable of names) {
      const value = program.variable(variable, this.at);
      const isPlaygrad = program.binding(variable, this.at)?.module?.startsWith("playgrad");
      if (isPlaygrad && value?.kind === "name" && value.name === canonical) return variable;
    }
    return null;
  }

  /** The changes that add the imports: `import …` before the first one, `from …` before the first such. @returns {Change[]} */
  importChanges() {
    return [...this.imports].map((line) => {
      const at = importPlace(this.program, line.startsWith("from"));
      return { from: at, to: at, insert: `${line}\n` };
    });
  }
}

/** @param {Program} program @param {boolean} isFrom */
function importPlace(program, isFrom) {
  const top = program.tree.topNode;
  const imports = top.getChildren("ImportStatement");
  const isFuture = (/** @type {{from: number, to: number}} */ node) =>
    /^from\s+__future__\b/.test(program.text(node));
  const others = imports.filter((each) => !isFuture(each));
  const next = others.find((each) => !isFrom || program.text(each).startsWith("from"));
  if (next) return next.from;
  const last =
    (isFrom ? others[others.length - 1] : undefined) ??
    imports.filter(isFuture).pop() ??
    docstring(top.firstChild);
  if (!last) return 0;
  const end = program.code.indexOf("\n", last.to);
  return end < 0 ? program.code.length : end + 1;
}

/** @param {import("./tree.js").SyntaxNode | null} statement */
const docstring = (statement) =>
  statement?.name === "ExpressionStatement" && statement.firstChild?.name === "String"
    ? statement
    : null;
