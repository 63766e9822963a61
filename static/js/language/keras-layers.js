/** Layers and models of a program's own: several inputs are several arguments, and the batch comes first. */

import { t } from "../words/locale.js";
import { children, enclosing } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Problem } from "./bridging.js"
 */

/** @param {Program} program @returns {Problem[]} */
export function ownLayers(program) {
  /** @type {Problem[]} */
  const problems = [];
  program.tree.iterate({
    enter({ node }) {
      if (node.name === "CallExpression" && losesBatch(program, node)) {
        const { isNot, batchFirst } = t().bridge;
        const message = isNot(program.text(node), batchFirst);
        problems.push({ from: node.from, to: node.to, message });
      }
      const input = node.name === "FunctionDefinition" ? listInput(program, node) : null;
      if (!input) return;
      const insert = `*${program.text(input)}`;
      const words = t().bridge;
      problems.push({
        from: input.from,
        to: input.to,
        message: words.is(program.text(input), insert),
        label: words.write(insert),
        changes: [{ from: input.from, to: input.from, insert: "*" }],
      });
    },
  });
  return problems;
}

/** The parameter of `call` that is a list of inputs, of which the body makes several variables. @param {Program} program @param {SyntaxNode} method @returns {SyntaxNode | null} */
function listInput(program, method) {
  const name = method.getChild("VariableName");
  const bases = enclosing(method, "ClassDefinition")?.getChild("ArgList");
  const body = method.getChild("Body");
  if (!name || program.text(name) !== "call" || !bases || !body) return null;
  const isLayer = children(bases).some((each) => {
    const value = each.name.endsWith("Expression") || each.name === "VariableName";
    const base = value ? program.value(each) : null;
    return base?.kind === "name" && base.name === "nn.Layer";
  });
  const parameters = method.getChild("ParamList");
  const input = parameters?.getChildren("VariableName")[1];
  if (!isLayer || !input || input.prevSibling?.name === "*") return null;
  const isUnpacked = children(body).some((each) => {
    const parts = each.name === "AssignStatement" ? children(each) : [];
    const isSeveral = parts.some((part) => part.name === ",");
    const value = parts[parts.length - 1];
    return isSeveral && value && program.text(value) === program.text(input);
  });
  return isUnpacked ? input : null;
}

/** Whether a call in the method `call` of a class makes one row of a batch. @param {Program} program @param {SyntaxNode} node */
function losesBatch(program, node) {
  if (!/\.(?:view|reshape)\(\(?1,\s*-1\)?\)$/.test(program.text(node))) return false;
  const method = enclosing(node, "FunctionDefinition")?.getChild("VariableName");
  return (
    method?.parent !== undefined &&
    ["call", "forward"].includes(program.text(method)) &&
    enclosing(node, "ClassDefinition") !== null
  );
}
