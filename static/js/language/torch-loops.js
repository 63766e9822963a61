/** Training loops of PyTorch, and the loops with a tape that compute the same. */

import { t } from "../words/locale.js";
import { Speller } from "./spelling.js";
import { children, readArguments } from "./tree.js";

/**
 * @import { SyntaxNode } from "./tree.js"
 * @import { Program } from "./program.js"
 * @import { Problem } from "./bridging.js"
 * @import { Change } from "./spelling.js"
 */

/** @param {Program} program @returns {Problem[]} */
export function torchLoops(program) {
  /** @type {Problem[]} */
  const problems = [];
  program.tree.iterate({
    enter({ node }) {
      const owner = calledOn(program, node, "backward");
      if (owner)
        problems.push(...loopProblem(program, node, owner), ...handProblem(program, node, owner));
      problems.push(...scheduleProblem(program, node));
    },
  });
  return problems;
}

/** What a method is called on, if a statement is a call of it. @param {Program} program @param {SyntaxNode} node @param {string} method @returns {SyntaxNode | null} */
function calledOn(program, node, method) {
  const call = node.name === "ExpressionStatement" ? node.firstChild : null;
  const callee = call?.name === "CallExpression" ? call.firstChild : null;
  const isMethod =
    callee?.name === "MemberExpression" &&
    callee.lastChild?.name === "PropertyName" &&
    program.text(callee.lastChild) === method;
  return isMethod ? callee.firstChild : null;
}

/** @param {Program} program @param {SyntaxNode} backward the statement @param {SyntaxNode} loss @returns {Problem[]} */
function loopProblem(program, backward, loss) {
  const before = earlier(backward);
  const after = later(backward).filter((each) => each.name !== "Comment");
  const stop = after.findIndex((each) => calledOn(program, each, "backward"));
  const step = (stop < 0 ? after : after.slice(0, stop)).find((each) =>
    calledOn(program, each, "step"),
  );
  const optimizer = step && calledOn(program, step, "step");
  const made = optimizer && constructor(program, program.text(optimizer));
  const recorded = neededFor(program, loss, before);
  const isName = loss.name === "VariableName";
  if (!step || !optimizer || !made || (isName && !recorded.length)) return [];
  const { code } = program;
  const words = t().bridge;
  const speller = new Speller(program, backward.from);
  const tape = speller.name("GradientTape");
  const first = recorded[0] ?? backward;
  const start = lineStart(code, first.from);
  const indent = code.slice(start, first.from);
  if (indent.trim() !== "") return [];
  const end = recorded.length ? recorded[recorded.length - 1].to : start;
  const inner = indentations(code, start, end);
  const name = isName ? program.text(loss) : "loss";
  const bound = isName ? "" : `    loss = ${program.text(loss)}\n${indent}`;
  const clip = clipping(program, after, made.list);
  /** @type {Change[]} */
  const changes = [
    { from: start, to: start, insert: `${indent}with ${tape}() as tape:\n` },
    ...inner,
    {
      from: backward.from,
      to: backward.to,
      insert: `${bound}gradients = tape.gradient(${name}, ${made.weights})`,
    },
    {
      from: step.from,
      to: step.to,
      insert: `${program.text(optimizer)}.apply_gradients(zip(gradients, ${made.weights}))`,
    },
    ...clip,
    ...inTraining(program, start, backward.to),
  ].sort((a, b) => a.from - b.from || a.to - b.to);
  const here = `${tape}()`;
  return [
    {
      from: backward.from,
      to: backward.to,
      message: words.is(program.text(backward), here),
      label: words.write(here),
      changes: [...speller.importChanges(), ...changes],
      isFirst: true,
    },
  ];
}

/** Updates by hand, of leaves that have gradients: `w -= rate * w.grad`. @param {Program} program @param {SyntaxNode} backward @param {SyntaxNode} loss @returns {Problem[]} */
function handProblem(program, backward, loss) {
  const block = later(backward).find((each) => each.name === "WithStatement");
  const body = block?.getChild("Body");
  const [first] = neededFor(program, loss, earlier(backward), true);
  if (!block || !body || !first || loss.name !== "VariableName") return [];
  if (!/^with\s+torch\.no_grad\(\)/.test(program.text(block))) return [];
  const { code } = program;
  const leaves = [...new Set([...code.matchAll(/\b(\w+)\.grad\b/g)].map(([, name]) => name))];
  /** @type {Change[]} */
  const updates = [];
  for (const each of children(body)) {
    const text = program.text(each);
    const update = /^(\w+) -= (.*)$/s.exec(text);
    const isReset = /^\w+\.grad(?: = None|\.zero_\(\))$/.test(text);
    if (each.name === ":" || each.name === "Comment") continue;
    if (isReset) {
      const start = lineStart(code, each.from);
      updates.push({ from: start, to: code.indexOf("\n", each.to) + 1, insert: "" });
    } else if (update && leaves.includes(update[1])) {
      const value = update[2].replace(
        /\b(\w+)\.grad\b/g,
        (_, name) => `gradients[${leaves.indexOf(name)}]`,
      );
      updates.push({ from: each.from, to: each.to, insert: `${update[1]}.assign_sub(${value})` });
    } else return [];
  }
  const start = lineStart(code, first.from);
  const indent = code.slice(start, first.from);
  const speller = new Speller(program, backward.from);
  const tape = speller.name("GradientTape");
  const gradients = `gradients = tape.gradient(${program.text(loss)}, [${leaves.join(", ")}])`;
  const words = t().bridge;
  return [
    {
      from: backward.from,
      to: backward.to,
      message: words.is(program.text(backward), `${tape}()`),
      label: words.write(`${tape}()`),
      changes: [
        ...speller.importChanges(),
        { from: start, to: start, insert: `${indent}with ${tape}() as tape:\n` },
        ...indentations(code, start, backward.prevSibling?.to ?? start),
        { from: backward.from, to: backward.to, insert: gradients },
        ...updates,
      ],
      isFirst: true,
    },
  ];
}

/** A rate that is multiplied after each epoch. @param {Program} program @param {SyntaxNode} node @returns {Problem[]} */
function scheduleProblem(program, node) {
  if (node.name !== "AssignStatement") return [];
  const match =
    /^(\w+) = (?:[\w.]+\.)?(?:StepLR\(\s*(\w+),\s*(?:step_size\s*=\s*)?1|ExponentialLR\(\s*(\w+)),\s*(?:gamma\s*=\s*)?([\d.]+)\s*\)$/.exec(
      program.text(node),
    );
  if (!match) return [];
  const [, name, one, other, factor] = match;
  const optimizer = one ?? other;
  const weights = constructor(program, optimizer)?.weights ?? "";
  const model = /^(\w+)\.trainable_variables$/.exec(weights)?.[1];
  if (!model) return [];
  const rate = `${optimizer}.learning_rate`;
  const insert = `${model}.session.assign({${rate}: ${rate}.numpy() * ${factor}})`;
  const start = lineStart(program.code, node.from);
  const changes = [{ from: start, to: program.code.indexOf("\n", node.to) + 1, insert: "" }];
  for (const { index, 0: text } of program.code.matchAll(
    new RegExp(`\\b${name}\\.step\\(\\)`, "g"),
  ))
    changes.push({ from: index, to: index + text.length, insert });
  const words = t().bridge;
  return [
    {
      from: node.from,
      to: node.to,
      message: words.is(program.text(node), insert),
      label: words.write(insert),
      changes,
      isFirst: true,
    },
  ];
}

/** @param {SyntaxNode} node the statements before it in its block, the nearest first */
function earlier(node) {
  const all = [];
  for (let each = node.prevSibling; each && each.name !== ":"; each = each.prevSibling)
    all.push(each);
  return all;
}

/** @param {SyntaxNode} node the statements after it in its block */
function later(node) {
  const all = [];
  for (let each = node.nextSibling; each; each = each.nextSibling) all.push(each);
  return all;
}

/** The statements from the first one that the loss depends on, as far as the last update. @param {Program} program @param {SyntaxNode} loss @param {SyntaxNode[]} before the nearest first @param {boolean} [isAny] whether statements without a call count, too @returns {SyntaxNode[]} */
function neededFor(program, loss, before, isAny = false) {
  const needed = new Set(namesIn(program, loss));
  let last = -1;
  for (const [at, each] of before.entries()) {
    if (["backward", "step"].some((method) => calledOn(program, each, method))) break;
    const targets = assignedBy(program, each);
    if (!targets.some((name) => needed.has(name))) continue;
    if (isAny || callsAnything(each)) last = at;
    for (const name of targets) needed.delete(name);
    for (const name of namesIn(program, each)) if (!targets.includes(name)) needed.add(name);
  }
  return before.slice(0, last + 1).reverse();
}

/** @param {SyntaxNode} node */
function callsAnything(node) {
  let found = false;
  node.cursor().iterate((each) => {
    if (each.name === "CallExpression") found = true;
    return !found;
  });
  return found;
}

/** @param {Program} program @param {SyntaxNode} node @returns {string[]} */
function namesIn(program, node) {
  /** @type {string[]} */
  const names = [];
  node.cursor().iterate((each) => {
    if (each.name === "VariableName") names.push(program.code.slice(each.from, each.to));
  });
  return names;
}

/** The variables that a statement assigns, also within its blocks. @param {Program} program @param {SyntaxNode} statement */
const assignedBy = (program, statement) =>
  program.bindings
    .filter(({ from, module }) => {
      const isInside = from >= statement.from && from < statement.to;
      return isInside && module === undefined;
    })
    .map(({ name }) => name);

/** The call that makes an optimizer, and the weights that it updates. @param {Program} program @param {string} name @returns {{list: SyntaxNode, weights: string} | null} */
function constructor(program, name) {
  /** @type {{list: SyntaxNode, weights: string} | null} */
  let found = null;
  let isNamed = false;
  program.tree.iterate({
    enter({ node }) {
      if (isNamed || node.name !== "AssignStatement") return;
      const [target, , value] = children(node);
      const list = value?.name === "CallExpression" ? value.getChild("ArgList") : null;
      const first = list && readArguments(list, program.code)[0];
      if (!list || !first?.value || !/\.parameters\(\)/.test(program.text(first.value))) return;
      if (first.name !== null && first.name !== "params") return;
      const isIt = program.text(target) === name;
      if (!isIt && found) return;
      const weights = program
        .text(first.value)
        .replace(/\.parameters\(\)/g, ".trainable_variables");
      found = { list, weights };
      isNamed = isIt;
    },
  });
  return found;
}

/** Clipping of gradients as an argument of the optimizer. @param {Program} program @param {SyntaxNode[]} after @param {SyntaxNode} list of the optimizer's arguments @returns {Change[]} */
function clipping(program, after, list) {
  for (const each of after) {
    if (calledOn(program, each, "step")) break;
    const match = /\bclip_grad_(norm|value)_?\(\s*[^,]+,\s*(?:\w+\s*=\s*)?([^,)]+)/.exec(
      program.text(each),
    );
    if (each.name !== "ExpressionStatement" || !match) continue;
    const argument = `, ${match[1] === "norm" ? "global_clipnorm" : "clipvalue"}=${match[2]}`;
    const start = lineStart(program.code, each.from);
    return [
      { from: list.to - 1, to: list.to - 1, insert: argument },
      { from: start, to: program.code.indexOf("\n", each.to) + 1, insert: "" },
    ];
  }
  return [];
}

/** The models whose weights are trained are called as in training. @param {Program} program @param {number} from @param {number} to @returns {Change[]} */
function inTraining(program, from, to) {
  const models = new Set(
    [...program.code.matchAll(/\b(\w+)\.parameters\(\)/g)].map(([, name]) => name),
  );
  /** @type {Change[]} */
  const changes = [];
  program.tree.iterate({
    from,
    to,
    enter({ node }) {
      if (node.name !== "CallExpression" || node.from < from || node.to > to) return;
      const list = node.getChild("ArgList");
      if (!list || node.firstChild?.name !== "VariableName") return;
      if (models.has(program.text(node.firstChild)) && readArguments(list, program.code).length)
        changes.push({ from: list.to - 1, to: list.to - 1, insert: ", training=True" });
    },
  });
  return changes;
}

/** @param {string} code @param {number} at */
const lineStart = (code, at) => code.lastIndexOf("\n", at - 1) + 1;

/** Four blanks before each line. @param {string} code @param {number} from the start of a line @param {number} to @returns {Change[]} */
function indentations(code, from, to) {
  const changes = [];
  for (let at = from; at < to && at >= 0; at = code.indexOf("\n", at) + 1 || to)
    if (code[at] !== "\n") changes.push({ from: at, to: at, insert: "    " });
  return changes;
}
