/** Reads a program: its data, networks and training, as far as they are written down. */

import { array } from "./data.js";
import { Expressions } from "./expressions.js";
import { boundNames, readConstants, readImports, statementsOf } from "./names.js";
import { assignment, children, isBroken, parse, walk } from "./syntax.js";

/** @import { Node } from "./syntax.js" */
/** @import { Context, Known } from "./expressions.js" */
/** @import { Brought, Program } from "./types.js" */

/**
 * @param {string} text
 * @param {Brought} [brought]
 * @returns {Program}
 */
export function readProgram(text, brought = () => null) {
  const script = parse(text);
  const names = readImports(script, text);
  const expressions = new Expressions({ text, names, brought, ...readConstants(script, text) });
  new Statements(expressions).block(script, { values: new Map(), scope: "", conditional: false });
  return { text, names, broken: isBroken(script, text), ...expressions.found() };
}

/** Whether a call is one of a function, not of a method such as `model.fit`. @param {Node} node */
const isOwnCall = (node) =>
  node.name === "CallExpression" && children(node)[0].name === "VariableName";

/** Follows statements in their order, as far as the values of names are known. */
class Statements {
  /** @param {Expressions} expressions */
  constructor(expressions) {
    this.expressions = expressions;
    this.text = expressions.source.text;
  }

  /** @param {Node} block @param {Context} context */
  block(block, context) {
    for (const statement of statementsOf(block)) this.statement(statement, context);
  }

  /** @param {Node} statement @param {Context} context */
  statement(statement, context) {
    switch (statement.name) {
      case "AssignStatement":
        return this.assign(statement, context);
      case "ExpressionStatement": {
        const [expression] = children(statement);
        this.expressions.value(expression, { ...context, statement });
        if (isOwnCall(expression)) this.changed(expression, context);
        return;
      }
      case "ReturnStatement":
        return this.giveBack(statement, context);
      case "UpdateStatement":
        return this.update(statement, context);
      case "WithStatement":
        this.forget(boundNames(statement, this.text), context);
        return this.bodies(statement, context);
      case "DecoratedStatement":
        for (const child of children(statement)) this.statement(child, context);
        return;
      case "FunctionDefinition":
        return this.define(statement, context);
      case "ForStatement":
      case "WhileStatement":
      case "IfStatement":
      case "TryStatement":
      case "MatchStatement":
        return this.conditional(statement, context);
      default:
        this.forget(boundNames(statement, this.text), context);
    }
  }

  /** @param {Node} statement @param {Context} context */
  assign(statement, context) {
    const { targets, values } = assignment(statement);
    const isSimple = targets.length === 1 && targets[0].length === 1 && values.length === 1;
    const target = isSimple ? this.nameOf(targets[0][0]) : "";
    const results = values.map((value) =>
      this.expressions.value(value, { ...context, statement, target }),
    );
    /** @type {Known} */
    const result = results.length === 1 ? results[0] : { is: "tuple", items: results };
    for (const each of targets) {
      if (each.length === 1) this.bind(each[0], result, context);
      else this.destructure(each, result, context);
    }
  }

  /** @param {Node} target @param {Known} value @param {Context} context */
  bind(target, value, context) {
    if (target.name === "TupleExpression" || target.name === "ArrayExpression") {
      const inner = children(target)
        .slice(1, -1)
        .filter(({ name }) => name !== ",");
      return this.destructure(inner, value, context);
    }
    const name = this.nameOf(target);
    if (target.name === "MemberExpression") return this.changed(target, context);
    if (!name) return this.forget(boundNames(target, this.text), context);
    context.values.set(name, value);
    if (value?.is === "network" && !value.network.name) {
      value.network.name = name;
      value.network.scope = context.scope;
    }
  }

  /** @param {Node[]} targets @param {Known} value @param {Context} context */
  destructure(targets, value, context) {
    const isStarred = targets.some(({ name }) => name === "*");
    targets
      .filter(({ name }) => name !== "*")
      .forEach((target, i) => {
        if (value?.is === "tensor") this.bind(target, { ...value, part: i }, context);
        else
          this.bind(
            target,
            value?.is === "tuple" && !isStarred ? (value.items[i] ?? null) : null,
            context,
          );
      });
  }

  /** @param {Node} node */
  nameOf(node) {
    return node.name === "VariableName" ? this.text.slice(node.from, node.to) : "";
  }

  /** A network that a function returns has the function's name. @param {Node} statement @param {Context} context */
  giveBack(statement, context) {
    const [, expression, ...rest] = children(statement);
    if (!expression || rest.length > 0) return;
    const value = this.expressions.value(expression, { ...context, statement });
    if (value?.is === "network" && !value.network.name) {
      value.network.name = context.scope;
      value.network.scope = context.scope;
    }
  }

  /** @param {Node} statement @param {Context} context */
  update(statement, context) {
    const name = this.nameOf(children(statement)[0]);
    const value = context.values.get(name);
    if (value?.is === "array") {
      context.values.set(name, array(value.samples.shape, "float32"));
    } else if (value?.is === "tensor") {
      context.values.set(name, this.expressions.code(statement, context));
    } else {
      this.forget(boundNames(statement, this.text), context);
    }
  }

  /** @param {Node} statement @param {Context} context */
  define(statement, context) {
    const name = boundNames(statement, this.text)[0] ?? "";
    const values = new Map(context.values);
    const inner = { ...context, values, scope: name, conditional: false };
    for (const child of children(statement)) {
      if (child.name === "ParamList") this.forget(boundNames(child, this.text), inner);
    }
    this.bodies(statement, inner);
    context.values.set(name, null);
  }

  /** @param {Node} statement @param {Context} context */
  bodies(statement, context) {
    for (const child of children(statement)) if (child.name === "Body") this.block(child, context);
  }

  /**
   * Code that runs several times or perhaps not: variables that it assigns are not known
   * afterwards. The networks in it are read, layers that it calls on tensors are not.
   * @param {Node} statement
   * @param {Context} context
   */
  conditional(statement, context) {
    /** @type {Set<string>} */
    const assigned = new Set();
    walk(statement, (node) => {
      for (const name of boundNames(node, this.text)) assigned.add(name);
    });
    const tensors = [...assigned].filter((name) => context.values.get(name)?.is === "tensor");
    const result =
      tensors.length > 0 && !context.conditional ? this.expressions.code(statement, context) : null;
    this.forget(assigned, context);
    this.bodies(statement, { ...context, conditional: true });
    this.forget(assigned, context);
    for (const name of tensors) context.values.set(name, result);
  }

  /** Arrays that code may have changed in place: of which classes they are is not known any more. @param {Node} node @param {Context} context */
  changed(node, context) {
    walk(node, (each) => {
      const name = this.nameOf(each);
      const value = context.values.get(name);
      if (value?.is === "array")
        context.values.set(name, array(value.samples.shape, value.samples.dtype));
    });
  }

  /** @param {Iterable<string>} names @param {Context} context */
  forget(names, context) {
    for (const name of names) context.values.set(name, null);
  }
}
