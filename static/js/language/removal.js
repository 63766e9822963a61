/** Removes statements from programs. */

import { children, enclosing } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Change } from "./spelling.js"
 */

/** The removal of the statement that a name is called in, or of the assignment of the result to variables that nothing uses; null if it is a part of a larger one. @param {Program} program @param {SyntaxNode} node @returns {Change[] | null} */
export function removalOf(program, node) {
  let call = node.parent?.name === "CallExpression" ? node.parent : node;
  while (
    call.parent &&
    ["MemberExpression", "CallExpression"].includes(call.parent.name) &&
    call.parent.firstChild?.from === call.from
  )
    call = call.parent;
  const statement = enclosing(call, "ExpressionStatement", "AssignStatement");
  if (!statement) return null;
  if (statement.name === "AssignStatement") {
    if (statement.lastChild?.from !== call.from || statement.lastChild.to !== call.to) return null;
    if (isUsedElsewhere(program, statement)) return null;
  } else if (statement.firstChild?.from !== call.from || statement.firstChild.to !== call.to)
    return null;
  const body = statement.parent;
  const isOnly =
    body?.name === "Body" &&
    children(body).filter((each) => each.name !== ":" && each.name !== "Comment").length === 1;
  if (isOnly) return [{ from: statement.from, to: statement.to, insert: "pass" }];
  const start = program.code.lastIndexOf("\n", statement.from - 1) + 1;
  const end = program.code.indexOf("\n", statement.to);
  const isAlone =
    /^\s*$/.test(program.code.slice(start, statement.from)) &&
    /^\s*(#.*)?$/.test(program.code.slice(statement.to, end < 0 ? undefined : end));
  return isAlone
    ? [{ from: start, to: end < 0 ? program.code.length : end + 1, insert: "" }]
    : [{ from: statement.from, to: statement.to, insert: "pass" }];
}

/** Whether anything reads a variable that a statement assigns. @param {Program} program @param {SyntaxNode} statement */
function isUsedElsewhere(program, statement) {
  const isInside = (/** @type {{from: number}} */ { from }) =>
    from >= statement.from && from < statement.to;
  const assigned = new Set(program.bindings.filter(isInside).map(({ name }) => name));
  let isUsed = assigned.size === 0;
  program.tree.iterate({
    enter({ node }) {
      const isBound = program.bindings.some(({ from }) => from === node.from);
      if (node.name === "VariableName" && !isBound && !isInside(node))
        isUsed ||= assigned.has(program.text(node));
      return !isUsed;
    },
  });
  return isUsed;
}
