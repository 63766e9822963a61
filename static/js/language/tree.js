/** Small steps in the syntax tree that CodeMirror keeps of the program. */

/**
 * @typedef {ReturnType<typeof import("../../vendor/codemirror.js").syntaxTree>} Tree
 * @typedef {Tree["topNode"]} SyntaxNode
 */

/** The nearest node of these kinds that contains `node`, or is it. @param {SyntaxNode | null} node @param {...string} kinds */
export function enclosing(node, ...kinds) {
  let each = node;
  while (each && !kinds.includes(each.name)) each = each.parent;
  return each;
}

/** The children of a node. @param {SyntaxNode} node @returns {SyntaxNode[]} */
export function children(node) {
  const all = [];
  for (let each = node.firstChild; each; each = each.nextSibling) all.push(each);
  return all;
}

/**
 * @typedef {object} Argument
 * @property {string | null} name of a keyword argument
 * @property {string} stars `*` or `**`, or empty
 * @property {SyntaxNode | null} value
 * @property {SyntaxNode | null} nameNode
 * @property {number} from
 * @property {number} to
 */

/**
 * The arguments of a call, as far as they are written.
 * @param {SyntaxNode} list an `ArgList`
 * @param {string} code
 * @returns {Argument[]}
 */
export function readArguments(list, code) {
  /** @type {Argument[]} */
  const all = [];
  /** @type {SyntaxNode[]} */
  let parts = [];
  const finish = () => {
    if (parts.length) all.push(argument(parts, code));
    parts = [];
  };
  for (const each of children(list)) {
    if (each.name === "(" || each.name === ")" || each.type.isError || each.name === "Comment")
      continue;
    if (each.name === ",") finish();
    else parts.push(each);
  }
  finish();
  return all;
}

/** @param {SyntaxNode[]} parts @param {string} code @returns {Argument} */
function argument(parts, code) {
  const [first, second] = parts;
  const from = first.from;
  const { to } = parts[parts.length - 1];
  if (second?.name === "AssignOp") {
    return {
      name: code.slice(first.from, first.to),
      nameNode: first,
      stars: "",
      value: parts[2] ?? null,
      from,
      to,
    };
  }
  const isStarred = first.name === "*" || first.name === "**";
  return {
    name: null,
    nameNode: null,
    stars: isStarred ? first.name : "",
    value: (isStarred ? second : first) ?? null,
    from,
    to,
  };
}
