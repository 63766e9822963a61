/** Where a program binds its names: imports, assignments, loops, definitions. */

import { children } from "./tree.js";

/**
 * @import { Tree, SyntaxNode } from "./tree.js"
 *
 * @typedef {object} Binding
 * @property {string} name
 * @property {number} from where it is bound
 * @property {{from: number, to: number}} scope where it is visible
 * @property {SyntaxNode} [value] the expression that it is bound to
 * @property {boolean} [element] whether it is bound to the elements of the value, by a loop
 * @property {string} [module] the dotted name that an import statement binds it to
 * @property {ImportItem} [item]
 *
 * @typedef {object} ImportItem a name in an import statement
 * @property {string} path the module, and the name after `from … import`
 * @property {string} bound the name that it gets
 * @property {boolean} isFrom
 * @property {number} from
 * @property {number} to
 */

/** @param {Tree} tree @param {string} code @returns {Binding[]} */
export function readBindings(tree, code) {
  /** @type {Binding[]} */
  const bindings = [];
  /** @type {{from: number, to: number}[]} */
  const scopes = [{ from: 0, to: code.length }];
  tree.iterate({
    enter({ node }) {
      const scope = scopes[scopes.length - 1];
      bindings.push(...bound(node, code).map((each) => ({ scope, ...each })));
      if (opensScope(node.name)) {
        scopes.push({ from: node.from, to: node.to });
        bindings.push(
          ...parametersOf(node, code).map((each) => ({
            scope: scopes[scopes.length - 1],
            ...each,
          })),
        );
      }
    },
    leave({ node }) {
      if (opensScope(node.name)) scopes.pop();
    },
  });
  return bindings;
}

/** @param {string} kind */
const opensScope = (kind) => kind === "FunctionDefinition" || kind === "LambdaExpression";

/** @typedef {Omit<Binding, "scope">} Unplaced */

/** @param {SyntaxNode} node @param {string} code @returns {Unplaced[]} */
function bound(node, code) {
  switch (node.name) {
    case "ImportStatement":
      return readImport(node, code).map((item) => ({
        name: item.bound,
        from: item.from,
        module: meaningOf(item),
        item,
      }));
    case "AssignStatement":
      return assigned(node, code);
    case "ForStatement": {
      const [, target, keyword, value] = children(node);
      return target?.name === "VariableName" && keyword?.name === "in"
        ? [{ ...named(target, code), value, element: true }]
        : targets(target, code);
    }
    case "WithStatement":
      return withNames(node, code);
    case "FunctionDefinition":
    case "ClassDefinition":
      return node
        .getChildren("VariableName")
        .slice(0, 1)
        .map((each) => named(each, code));
    default:
      return [];
  }
}

/** @param {SyntaxNode} node @param {string} code */
const named = (node, code) => ({ name: code.slice(node.from, node.to), from: node.from });

/** Names without a known value in a target, such as a tuple. @param {SyntaxNode | undefined} node @param {string} code @returns {Unplaced[]} */
function targets(node, code) {
  if (!node) return [];
  if (node.name === "VariableName") return [named(node, code)];
  return node.name === "TupleExpression"
    ? children(node).flatMap((each) => targets(each, code))
    : [];
}

/** @param {SyntaxNode} node @param {string} code @returns {Unplaced[]} */
function assigned(node, code) {
  const parts = children(node);
  const operators = parts.flatMap((each, at) => (each.name === "AssignOp" ? [at] : []));
  if (!operators.length) return [];
  const last = operators[operators.length - 1];
  const value = parts.length === last + 2 ? parts[last + 1] : undefined;
  let start = 0;
  return operators.flatMap((at) => {
    const left = parts
      .slice(start, at)
      .filter((each) => each.name !== "TypeDef" && each.name !== ",");
    start = at + 1;
    const [only] = left;
    if (left.length === 1 && only.name === "VariableName") return [{ ...named(only, code), value }];
    return left.flatMap((each) => targets(each, code));
  });
}

/** @param {SyntaxNode} node @param {string} code @returns {Unplaced[]} */
function withNames(node, code) {
  const parts = children(node);
  return parts.flatMap((each, at) =>
    each.name === "as" && parts[at + 1]?.name === "VariableName"
      ? [{ ...named(parts[at + 1], code), value: parts[at - 1] }]
      : [],
  );
}

/** @param {SyntaxNode} node @param {string} code @returns {Unplaced[]} */
function parametersOf(node, code) {
  const list = node.getChild("ParamList");
  return list ? list.getChildren("VariableName").map((each) => named(each, code)) : [];
}

/** The dotted name that an item binds its name to: `import a.b` binds `a`. @param {ImportItem} item */
export const meaningOf = ({ path, bound, isFrom }) =>
  isFrom || bound !== path.split(".")[0] ? path : bound;

/** The names of an import statement. @param {SyntaxNode} node @param {string} code @returns {ImportItem[]} */
export function readImport(node, code) {
  const parts = children(node).filter(
    (each) => !["(", ")", "Comment"].includes(each.name) && !each.type.isError,
  );
  const isFrom = parts[0]?.name === "from";
  const start = isFrom ? parts.findIndex((each) => each.name === "import") : 0;
  if (start < 0) return [];
  const module = parts
    .slice(1, start)
    .map((each) => code.slice(each.from, each.to))
    .join("");
  /** @type {ImportItem[]} */
  const items = [];
  /** @type {SyntaxNode[]} */
  let group = [];
  const finish = () => {
    const alias = group.findIndex((each) => each.name === "as");
    const dotted = group.slice(0, alias < 0 ? undefined : alias);
    if (!dotted.length || dotted[0].name === "*") return;
    const path = dotted.map((each) => code.slice(each.from, each.to)).join("");
    const last = group[group.length - 1];
    const other = alias < 0 ? "" : code.slice(last.from, last.to);
    items.push({
      path: isFrom ? `${module}.${path}` : path,
      bound: other || (isFrom ? path : path.split(".")[0]),
      isFrom,
      from: group[0].from,
      to: last.to,
    });
  };
  for (const each of parts.slice(start + 1)) {
    if (each.name === ",") {
      finish();
      group = [];
    } else group.push(each);
  }
  finish();
  return items;
}
