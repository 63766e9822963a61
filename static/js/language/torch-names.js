/** What programs of PyTorch name or order differently: methods of modules, arguments of losses, comparisons. */

import { t } from "../words/locale.js";
import { Speller } from "./spelling.js";
import { children, enclosing, readArguments } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Problem } from "./bridging.js"
 */

/** Losses of PyTorch by their names. */
const LOSS = /(?:\.|^)(?:\w+Loss)$/;
const RECURRENT = /(?:\.|^)(?:LSTM|GRU|RNN)$/;
/** Arguments that NumPy and playgrad call differently. @type {Record<string, string>} */
const RENAMED = { dim: "axis", keepdim: "keepdims" };

/** @param {Program} program @returns {Problem[]} */
export function torchNames(program) {
  const losses = madeBy(program, LOSS);
  const recurrent = madeBy(program, RECURRENT);
  /** @type {Problem[]} */
  const problems = [];
  program.tree.iterate({
    enter({ node }) {
      const problem =
        forwardMethod(program, node) ??
        lossCall(program, node, losses) ??
        comparison(program, node) ??
        withoutGradients(program, node) ??
        item(program, node) ??
        methodArguments(program, node) ??
        largest(program, node) ??
        recurrentCall(program, node, recurrent) ??
        singleLayer(program, node) ??
        returnedState(program, node) ??
        ownState(program, node);
      if (problem) problems.push({ ...problem, isFirst: true });
    },
  });
  return problems;
}

/** A method `forward`, which is `call` here. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function forwardMethod(program, node) {
  if (node.name !== "FunctionDefinition" || !enclosing(node, "ClassDefinition")) return null;
  const name = node.getChild("VariableName");
  if (!name || program.text(name) !== "forward") return null;
  const place = { from: name.from, to: name.to };
  const words = t().bridge;
  return {
    ...place,
    message: words.is("forward", "call"),
    label: words.write("call"),
    changes: [{ ...place, insert: "call" }],
  };
}

/** The variables and attributes that hold an object of such a class. @param {Program} program @param {RegExp} kinds @returns {Set<string>} */
function madeBy(program, kinds) {
  /** @type {Set<string>} */
  const names = new Set();
  program.tree.iterate({
    enter({ node }) {
      if (node.name !== "AssignStatement") return;
      const [target, , value] = children(node);
      if (value?.name !== "CallExpression" || !value.firstChild) return;
      if (kinds.test(program.text(value.firstChild))) names.add(program.text(target));
    },
  });
  return names;
}

/** A loss takes the targets first here. @param {Program} program @param {SyntaxNode} node @param {Set<string>} losses @returns {Problem | null} */
function lossCall(program, node, losses) {
  if (node.name !== "CallExpression" || !node.firstChild) return null;
  const callee = program.text(node.firstChild);
  const list = node.getChild("ArgList");
  if (!losses.has(callee) || !list) return null;
  const given = readArguments(list, program.code);
  if (given.length !== 2 || given.some(({ name, stars }) => name !== null || stars)) return null;
  const [output, target] = given.map((each) => program.text(each));
  const insert = `${callee}(y_true=${target}, y_pred=${output})`;
  return replacement(program, node, insert);
}

/** A comparison of tensors with `==`, of which a method is used. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function comparison(program, node) {
  if (node.name !== "ParenthesizedExpression" || node.parent?.name !== "MemberExpression")
    return null;
  if (node.parent.firstChild?.from !== node.from) return null;
  const inner = node.firstChild?.nextSibling;
  const [left, operator, right] = inner?.name === "BinaryExpression" ? children(inner) : [];
  if (!right || !["==", "!="].includes(program.text(operator))) return null;
  const speller = new Speller(program, node.from);
  const name = program.text(operator) === "==" ? "equal" : "not_equal";
  const insert = `${speller.name(name)}(${program.text(left)}, ${program.text(right)})`;
  const words = t().bridge;
  return {
    from: node.from,
    to: node.to,
    message: words.is(program.text(node), insert),
    label: words.write(insert),
    changes: [...speller.importChanges(), { from: node.from, to: node.to, insert }],
  };
}

/** The weights of a model in a file. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function ownState(program, node) {
  if (node.name !== "CallExpression" || !/^torch\.save\(/.test(program.text(node))) return null;
  const match =
    /^torch\.save\(\s*([\w.]+)\.state_dict\(\)\s*,\s*(["'])(.*?)(?:\.\w+)?\2\s*\)$/.exec(
      program.text(node),
    );
  if (!match) return null;
  const insert = `${match[1]}.save_weights(${match[2]}${match[3]}.safetensors${match[2]})`;
  return replacement(program, node, insert);
}

/** Arguments `dim` and `keepdim` of methods that arrays of NumPy have, too. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function methodArguments(program, node) {
  const callee = node.name === "CallExpression" ? node.firstChild : null;
  const list = node.getChild("ArgList");
  if (callee?.name !== "MemberExpression" || !callee.lastChild || !list) return null;
  if (!/^(?:sum|mean|max|min|argmax|argmin|squeeze)$/.test(program.text(callee.lastChild)))
    return null;
  if (program.value(callee)?.kind === "foreign") return null;
  const changes = readArguments(list, program.code).flatMap(({ name, nameNode }) =>
    name !== null && nameNode && Object.hasOwn(RENAMED, name)
      ? [{ from: nameNode.from, to: nameNode.to, insert: RENAMED[name] }]
      : [],
  );
  if (!changes.length) return null;
  const words = t().bridge;
  const { from, to, insert } = changes[0];
  return {
    from,
    to,
    message: words.is(program.code.slice(from, to), insert),
    label: words.write(insert),
    changes,
  };
}

/** The largest numbers along an axis with their places, as a tuple. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function largest(program, node) {
  if (node.name !== "AssignStatement") return null;
  const parts = children(node);
  const value = parts[parts.length - 1];
  const method = /^(.*)\.(max|min)\((?:dim=)?(-?\d+)\)$/s.exec(program.text(value));
  if (value.name !== "CallExpression" || !method) return null;
  if (parts.filter(({ name }) => name === ",").length !== 1) return null;
  const [, owner, name, axis] = method;
  if (/^torch\b/.test(owner)) return null;
  const insert = `${owner}.${name}(axis=${axis}), ${owner}.arg${name}(axis=${axis})`;
  return replacement(program, value, insert);
}

/** A recurrent layer returns its states beside the outputs, and takes them by name. @param {Program} program @param {SyntaxNode} node @param {Set<string>} recurrent @returns {Problem | null} */
function recurrentCall(program, node, recurrent) {
  if (node.name !== "AssignStatement") return null;
  const parts = children(node);
  const value = parts[parts.length - 1];
  const list = value.name === "CallExpression" ? value.getChild("ArgList") : null;
  if (!list || !value.firstChild || !recurrent.has(program.text(value.firstChild))) return null;
  const at = parts.findIndex(({ name }) => name === "AssignOp");
  const [outputs, comma, ...states] = parts.slice(0, at);
  const state = states[0];
  if (comma?.name !== "," || states.length !== 1 || state.name === "StarredExpression") return null;
  if (program.text(comma.nextSibling ?? comma).startsWith("*")) return null;
  const isTuple = state.name === "TupleExpression" || state.name === "ParenthesizedExpression";
  const target = isTuple ? program.text(state).slice(1, -1) : `*${program.text(state)}`;
  const [input, initial] = readArguments(list, program.code);
  const given = initial?.value ? program.text(initial.value) : "";
  const isZero =
    !given ||
    given
      .replace(/[()]/g, "")
      .split(",")
      .every((each) => new RegExp(`\\b${each.trim()}\\s*=\\s*torch\\.zeros`).test(program.code));
  const written = isZero ? "" : `, initial_state=${given}`;
  const call = `${program.text(value.firstChild)}(${program.text(input)}${written})`;
  const problem = replacement(program, node, `${program.text(outputs)}, ${target} = ${call}`);
  const zeros = isZero && given ? zeroStates(program, node, given) : [];
  return { ...problem, changes: [...zeros, ...(problem.changes ?? [])] };
}

/** The removal of the statements before a call that make its states, which are zero anyway. @param {Program} program @param {SyntaxNode} node @param {string} given @returns {import("./spelling.js").Change[]} */
function zeroStates(program, node, given) {
  const names = given.replace(/[()\s]/g, "").split(",");
  const changes = [];
  for (let each = node.prevSibling; each; each = each.prevSibling) {
    const isState = names.some((name) => program.text(each).startsWith(`${name} = torch.zeros(`));
    if (each.name !== "AssignStatement" || !isState) continue;
    const start = program.code.lastIndexOf("\n", each.from - 1) + 1;
    changes.push({ from: start, to: program.code.indexOf("\n", each.to) + 1, insert: "" });
  }
  return changes.reverse();
}

/** States of a recurrent layer beside the result of a module: one tuple of tensors, without another in it. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function returnedState(program, node) {
  if (node.name !== "ReturnStatement") return null;
  const found = enclosing(node, "ClassDefinition")?.getChild("VariableName");
  const last = /,\s*(\w+)$/.exec(program.text(node))?.[1];
  if (!found || !last || !new RegExp(`\\*${last} = `).test(program.code)) return null;
  const at = node.to - last.length;
  /** @type {import("./spelling.js").Change[]} */
  const changes = [{ from: at, to: at, insert: "*" }];
  const made = new RegExp(`^(\\w+) = ${program.text(found)}\\(`, "m").exec(program.code)?.[1];
  const calls = new RegExp(`^[ \\t]*\\w+, (\\w+) = ${made}\\(`, "gm");
  for (const each of made ? program.code.matchAll(calls) : []) {
    const second = (each.index ?? 0) + each[0].indexOf(", ") + 2;
    changes.push({ from: second, to: second, insert: "*" });
  }
  const insert = `*${last}`;
  const words = t().bridge;
  return {
    from: node.from,
    to: node.to,
    message: words.is(last, insert),
    label: words.write(insert),
    changes: changes.sort((a, b) => a.from - b.from),
  };
}

/** A model that is one layer. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function singleLayer(program, node) {
  if (node.name !== "AssignStatement") return null;
  const [target, , value] = children(node);
  if (target.name !== "VariableName" || value?.name !== "CallExpression" || !value.firstChild)
    return null;
  const callee = program.text(value.firstChild);
  if (!/(?:^|\.)Linear$/.test(callee)) return null;
  if (!program.code.includes(`${program.text(target)}.parameters()`)) return null;
  const insert = `${callee.replace(/Linear$/, "Sequential")}(${program.text(value)})`;
  return replacement(program, value, insert);
}

/** A block without gradients: here only a tape records them. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function withoutGradients(program, node) {
  const body = node.name === "WithStatement" ? node.getChild("Body") : null;
  const head = body && program.code.slice(node.from, body.from);
  if (!head || !/^with\s+torch\.(?:no_grad|inference_mode)\(\)\s*$/.test(head)) return null;
  const { code } = program;
  const start = code.lastIndexOf("\n", node.from - 1) + 1;
  const first = code.indexOf("\n", body.from) + 1;
  const inner = /^[ \t]*/.exec(code.slice(first))?.[0].length ?? 0;
  const extra = inner - (node.from - start);
  if (first === 0 || first > body.to || extra <= 0) return null;
  const changes = [{ from: start, to: first, insert: "" }];
  for (let at = first; at < body.to && at > 0; at = code.indexOf("\n", at) + 1)
    if (/^\s+$/.test(code.slice(at, at + extra)) && !code.slice(at, at + extra).includes("\n"))
      changes.push({ from: at, to: at + extra, insert: "" });
  const words = t().bridge;
  const place = { from: node.from, to: node.from + head.trimEnd().length };
  const message = words.isNot(head.trim(), words.said("Only a tape records gradients here."));
  return { ...place, message, label: words.removeLine, changes };
}

/** A layer of a chain by its number. @param {Program} program @param {SyntaxNode} node @returns {Problem | null} */
function item(program, node) {
  const bracket = node.name === "MemberExpression" ? node.getChild("[") : null;
  const owner = node.firstChild;
  if (!bracket || !owner) return null;
  const value = program.value(owner);
  const isChain = value?.kind === "instance" && value.of === "Sequential";
  if (!isChain) return null;
  const insert = `${program.text(owner)}.layers`;
  const words = t().bridge;
  const place = { from: owner.from, to: owner.to };
  return {
    ...place,
    message: words.is(program.text(node), `${insert}[…]`),
    label: words.write(insert),
    changes: [{ ...place, insert }],
  };
}

/** @param {Program} program @param {SyntaxNode} node @param {string} insert @returns {Problem} */
function replacement(program, node, insert) {
  const words = t().bridge;
  const place = { from: node.from, to: node.to };
  return {
    ...place,
    message: words.is(program.text(node), insert),
    label: words.write(insert.length > 60 ? `${insert.slice(0, 57)}…` : insert),
    changes: [{ ...place, insert }],
  };
}
