/** Removes statements from programs. */

import { children, enclosing } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Change } from "./spelling.js"
 */

/** The removal of the statement that a name is called in; null if it is a part of a larger one. @param {Program} program @param {SyntaxNode} node @returns {Change[] | null} */
export function removalOf(program, node) {
  const call = node.parent?.name === "CallExpression" ? node.parent : node;
  const statement = enclosing(call, "ExpressionStatement");
  if (statement?.firstChild?.from !== call.from || statement.firstChild.to !== call.to) return null;
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
