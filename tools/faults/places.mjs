// node places.mjs FILE OPERATORS prints the places of a JavaScript file as [kind, start, end, text].

import { readFileSync } from "node:fs";
import { parse } from "espree";

const [file, table] = process.argv.slice(2);
const operators = JSON.parse(table);
const text = readFileSync(file, "utf8");
const places = [];

/** The source of a node. */
const source = ({ start, end }) => text.slice(start, end);

const visitors = {
  BinaryExpression({ left, right, operator }) {
    if (!(operator in operators)) return;
    const at = text.indexOf(operator, left.end);
    if (at < right.start) places.push(["operator", at, at + operator.length, operators[operator]]);
  },
  Literal(node) {
    if (Number.isInteger(node.value))
      places.push(["bound", node.start, node.end, String(node.value + 1)]);
  },
  UnaryExpression(node) {
    if (node.operator === "-" || node.operator === "!")
      places.push(["sign", node.start, node.end, source(node.argument)]);
  },
  ExpressionStatement(node) {
    if (node.directive === undefined) places.push(["dropped", node.start, node.end, ";"]);
  },
  ReturnStatement(node) {
    if (node.argument === null) places.push(["dropped", node.start, node.end, ";"]);
  },
  CallExpression({ arguments: [first, second] }) {
    if (!second || first.type === "SpreadElement" || second.type === "SpreadElement") return;
    const swapped = source(second) + text.slice(first.end, second.start) + source(first);
    if (source(first) !== source(second))
      places.push(["swapped", first.start, second.end, swapped]);
  },
};
visitors.LogicalExpression = visitors.BinaryExpression;

/** @param {any} node */
function visit(node) {
  visitors[node.type]?.(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (child?.type) visit(child);
  }
}

visit(parse(text, { ecmaVersion: "latest", sourceType: "module" }));
// Python counts code points.
const points = (/** @type {number} */ at) => [...text.slice(0, at)].length;
console.log(
  JSON.stringify(places.map(([kind, start, end, by]) => [kind, points(start), points(end), by])),
);
