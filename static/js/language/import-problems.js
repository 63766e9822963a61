/** Imports of other libraries, and the imports of playgrad that replace them. */

import { t } from "../words/locale.js";
import { readImport } from "./bindings.js";
import { Speller } from "./spelling.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Translator } from "./translator.js"
 * @import { ImportItem } from "./bindings.js"
 * @import { Problem } from "./bridging.js"
 */

/** @param {Program} program @param {Translator} translator @returns {Problem[]} */
export function importProblems(program, translator) {
  /** @type {Problem[]} */
  const problems = [];
  program.tree.iterate({
    enter({ node }) {
      if (node.name !== "ImportStatement") return true;
      const problem = problemOf(program, translator, node);
      if (problem) problems.push(problem);
      return false;
    },
  });
  return problems;
}

/** @param {Program} program @param {Translator} translator @param {SyntaxNode} node @returns {Problem | null} */
function problemOf(program, translator, node) {
  const items = readImport(node, program.code);
  const foreign = items.filter((item) => foreignPath(program, translator, item) !== null);
  if (!foreign.length) return null;
  const place = { from: node.from, to: node.to, isImport: true };
  const speller = new Speller(program, node.from);
  /** @type {string[]} */
  const lines = [];
  const unresolved = [];
  for (const item of items) {
    const path = foreignPath(program, translator, item);
    const to = path === null ? null : translator.importable(path);
    if (path === null) lines.push(line(item.path, item.bound, item.isFrom));
    else if (to !== null) lines.push(line(`playgrad.${to}`, item.bound, true));
    else if (isUsed(program, item)) unresolved.push(item);
    else if (item.bound !== "annotations") speller.name("");
  }
  const words = t().bridge.imports;
  const names = foreign.map(({ path }) => `\`${path}\``);
  if (unresolved.length) {
    const reason = translator.reason({
      kind: "foreign",
      paths: unresolved.map(({ path }) => path),
    });
    return { ...place, message: words.unresolved(names, reason && t().bridge.said(reason)) };
  }
  const written = [...new Set([...speller.imports, ...joined(lines)])];
  const all = written.join("\n");
  const end = all === "" && program.code[node.to] === "\n" ? node.to + 1 : node.to;
  return {
    ...place,
    message: words.absent(names, written),
    label: all ? words.fix : words.remove,
    changes: [{ from: node.from, to: end, insert: all }],
  };
}

/** The path of another library that an item means, or null. @param {Program} program @param {Translator} translator @param {ImportItem} item */
function foreignPath(program, translator, item) {
  if (translator.isOther(item.path)) return translator.canonical(item.path);
  if (!item.path.startsWith("playgrad.")) return null;
  const value = program.imported(item.path);
  if (value?.kind !== "foreign") return null;
  return value.paths.find((path) => translator.importable(path) !== null) ?? value.paths[0];
}

/** Whether a name of an import is read anywhere. @param {Program} program @param {ImportItem} item */
function isUsed(program, item) {
  let used = false;
  program.tree.iterate({
    enter({ node }) {
      if (node.name === "ImportStatement") return false;
      if (
        node.name === "VariableName" &&
        program.text(node) === item.bound &&
        program.binding(item.bound, node.from)?.item?.from === item.from
      )
        used = true;
      return !used;
    },
  });
  return used;
}

/** @param {string} path @param {string} bound @param {boolean} isFrom */
function line(path, bound, isFrom) {
  const cut = path.lastIndexOf(".");
  const last = path.slice(cut + 1);
  if (!isFrom || cut < 0)
    return `import ${path}${bound === path.split(".")[0] ? "" : ` as ${bound}`}`;
  return `from ${path.slice(0, cut)} import ${last}${bound === last ? "" : ` as ${bound}`}`;
}

/** Lines that import from the same module as one. @param {string[]} lines */
function joined(lines) {
  /** @type {Map<string, string[]>} */
  const modules = new Map();
  for (const each of lines) {
    const match = /^(from \S+ import) (.*)$/.exec(each);
    if (match) modules.set(match[1], [...(modules.get(match[1]) ?? []), match[2]]);
    else modules.set(each, []);
  }
  return [...modules].map(([start, names]) =>
    names.length ? `${start} ${names.join(", ")}` : start,
  );
}
