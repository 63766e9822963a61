/** `class_names("shapes")` of a program whose data set is replaced. */

import { SETS } from "./data.js";
import { lineStart } from "./lists.js";
import { children, parse, walk } from "./syntax.js";

/** @import { Change, Range } from "./types.js" */

const CALL = /^(?:\w+\.)*class_names\(\s*(["'])(\w+)\1\s*\)$/;

/**
 * The changes of calls for another data set: images have names of their own; points have none, so a line that only
 * prints them goes.
 * @param {string} text of the program
 * @param {string} before the name of the data set
 * @param {string} after
 * @returns {Change[]}
 */
export function classNameChanges(text, before, after) {
  const script = parse(text);
  const statements = children(script);
  /** @type {Change[]} */
  const changes = [];
  walk(script, ({ name, from, to }) => {
    const call = name === "CallExpression" ? CALL.exec(text.slice(from, to)) : null;
    if (call?.[2] !== before) return;
    if (SETS[after].sort === "images") {
      const at = from + call[0].indexOf(`${call[1]}${before}`) + 1;
      changes.push({ from: at, to: at + before.length, insert: after });
      return;
    }
    const statement = statements.find((each) => each.from <= from && to <= each.to);
    if (statement && isPrint(text, statement)) {
      changes.push({
        from: lineStart(text, statement.from),
        to: Math.min(text.length, statement.to + 1),
        insert: "",
      });
    }
  });
  return changes;
}

/** @param {string} text @param {Range} statement */
const isPrint = (text, { from, to }) => /^print\(/.test(text.slice(from, to));
