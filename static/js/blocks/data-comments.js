/**
 * What a program says of its data in words, kept true when the data change: the comment directly above
 * the line that makes the data, the comments in that line and beside the layers, and the docstring (or
 * the comment) that the program begins with. All other comments stay.
 */

import { SETS } from "./data.js";
import { lineStart } from "./lists.js";
import { children, parse, walk } from "./syntax.js";

/** @import { Call, Change, Program, Range } from "./types.js" */

const FASHION = /\bfashion[-_ ]?mnist\b/gi;

/** The words of a data set in comments, which are English, as the names of programs are. @param {string} kind */
const namesOf = (kind) => new RegExp(SETS[kind].names, "i");

/** Words for parts that only one sort of data has. */
const SORTS = {
  points: /\bpoints?\b|\bplane\b/i,
  images: /\bimages?\b|\bpixels?\b|\bbytes?\b|\bcolours?\b/i,
};
/** Sizes of an image or of a layer's result for it. */
const SIZES = /\b(28 ?[x×] ?28|24 ?[x×] ?24|32 ?[x×] ?32|784)\b|\(\d+(, ?\d+)+\)/;
const ACCURACY = /\s*\bExpect \d+(\.\d+)? ?% (accuracy|of)[^.]*\.(?=\s|$)/g;

/** The data sets that a text names. @param {string} text */
const named = (text) =>
  Object.keys(SETS).filter((kind) =>
    namesOf(kind).test(kind === "fashion_mnist" ? text : text.replace(FASHION, "")),
  );

/** A data set that takes the place of another. */
class Exchange {
  /** @param {string} before @param {string} after */
  constructor(before, after) {
    const [old, now] = [SETS[before], SETS[after]];
    this.before = before;
    this.words = now;
    this.traits = old.traits ? new RegExp(old.traits, "i") : null;
    this.sort = old.sort === now.sort ? null : SORTS[old.sort];
    this.sizes = old.shape.join() === now.shape.join() ? null : SIZES;
  }

  /** Whether a text names the data that go; one that names several sets suggests them. @param {string} text */
  names(text) {
    const sets = named(text);
    return sets.length === 1 && sets[0] === this.before;
  }

  /** Whether a text is about the data that go. @param {string} text */
  describes(text) {
    return (
      this.names(text) ||
      (named(text).length === 0 &&
        [this.traits, this.sort, this.sizes].some((each) => each?.test(text)))
    );
  }
}

/**
 * The changes of comments and docstring for another data set.
 * @param {Program} program
 * @param {Call} call of the data
 * @param {string} kind of the new data
 * @param {(piece: Range) => boolean} isHeld whether a piece of the program cannot be changed
 * @returns {Change[]} in order
 */
export function commentChanges({ text, networks }, call, kind, isHeld) {
  const exchange = new Exchange(call.kind, kind);
  const script = parse(text);
  const comments = commentsOf(script, text);
  const items = networks.flatMap(({ items: layers }) =>
    layers.flatMap((item) => (item.call ? [item] : [])),
  );
  const output = items.filter((item) => item.call?.kind === "Dense").at(-1);
  const above = blockAbove(comments, call, text);
  const changes = [
    ...opening(
      script,
      comments.filter((each) => !above.includes(each)),
      text,
      exchange,
    ),
    ...groups(above, text).flatMap((group, at, all) =>
      aboveData(group, all.slice(0, at), text, exchange),
    ),
    ...comments
      .filter(({ isAlone }) => !isAlone)
      .flatMap((comment) => {
        const isInLine = (/** @type {Range} */ { to }) =>
          lineStart(text, to) === lineStart(text, comment.from);
        const words = text.slice(comment.from, comment.to);
        if (isInLine(call))
          return exchange.describes(words)
            ? [{ ...comment.range, insert: `# ${exchange.words.about}` }]
            : [];
        if (!items.some(isInLine) || !exchange.describes(words)) return [];
        const insert =
          output && isInLine(output)
            ? words.replace(/\b(digit|shape|point|cloth(es|ing)?)\b/, "class")
            : "";
        if (insert && !exchange.describes(insert)) return [{ ...comment.range, insert }];
        return [
          { from: comment.from - spacesBefore(text, comment.from), to: comment.to, insert: "" },
        ];
      }),
  ];
  return changes.filter((each) => !isHeld(each)).sort((a, b) => a.from - b.from);
}

/** @param {string} text @param {number} at */
const spacesBefore = (text, at) =>
  (/[ \t]*$/.exec(text.slice(lineStart(text, at), at))?.[0] ?? "").length;

/** @typedef {Range & {isAlone: boolean, range: Range}} Comment `isAlone`: in a line of its own */

/** @param {ReturnType<typeof parse>} script @param {string} text @returns {Comment[]} in order */
function commentsOf(script, text) {
  /** @type {Comment[]} */
  const list = [];
  walk(script, ({ name, from, to }) => {
    if (name !== "Comment") return;
    list.push({
      from,
      to,
      range: { from, to },
      isAlone: text.slice(lineStart(text, from), from).trim() === "",
    });
  });
  return list.sort((a, b) => a.from - b.from);
}

/** The lines of comments directly above a line. @param {Comment[]} comments @param {Range} piece @param {string} text */
function blockAbove(comments, { from }, text) {
  /** @type {Comment[]} */
  const block = [];
  for (let start = lineStart(text, from); start > 0;) {
    const above = lineStart(text, start - 1);
    const comment = comments.find((each) => each.isAlone && lineStart(text, each.from) === above);
    if (!comment) break;
    block.unshift(comment);
    start = above;
  }
  return block;
}

/** Lines that belong together: a sentence may continue in the next line. @param {Comment[]} block @param {string} text */
function groups(block, text) {
  /** @type {Comment[][]} */
  const list = [];
  for (const comment of block) {
    const before = list.at(-1);
    const last = before?.at(-1);
    const goesOn =
      last &&
      !/[.!?:]\s*$/.test(text.slice(last.from, last.to)) &&
      /^#+\s*[a-z0-9(]/.test(text.slice(comment.from, comment.to));
    if (before && goesOn) before.push(comment);
    else list.push([comment]);
  }
  return list;
}

/** @param {Comment[]} group @param {Comment[][]} earlier @param {string} text @param {Exchange} exchange @returns {Change[]} */
function aboveData(group, earlier, text, exchange) {
  const read = (/** @type {Comment[]} */ lines) =>
    lines.map(({ from, to }) => text.slice(from, to)).join(" ");
  if (!exchange.describes(read(group))) return [];
  const [first, last] = [group[0], /** @type {Comment} */ (group.at(-1))];
  const isSaid = earlier.some((each) => exchange.describes(read(each)));
  if (!isSaid) return [{ from: first.from, to: last.to, insert: `# ${exchange.words.about}` }];
  return [
    { from: lineStart(text, first.from), to: Math.min(text.length, last.to + 1), insert: "" },
  ];
}

/**
 * The docstring, or the comment that the program begins with.
 * @param {ReturnType<typeof parse>} script
 * @param {Comment[]} comments
 * @param {string} text
 * @param {Exchange} exchange
 * @returns {Change[]}
 */
function opening(script, comments, text, exchange) {
  const [statement] = children(script);
  const docstring = statement?.name === "ExpressionStatement" ? children(statement)[0] : null;
  if (docstring?.name === "String") {
    const parts = /^([rRuU]?("""|'''|"|'))([^]*)\2$/.exec(text.slice(docstring.from, docstring.to));
    if (!parts) return [];
    const from = docstring.from + parts[1].length;
    const insert = rewritten(parts[3], exchange);
    return insert === parts[3] ? [] : [{ from, to: from + parts[3].length, insert }];
  }
  const [first] = comments;
  if (!first?.isAlone || text.slice(0, first.from).trim() !== "") return [];
  const title = text.slice(first.from, first.to);
  const insert = retitled(title, exchange);
  return insert === title ? [] : [{ ...first.range, insert }];
}

/** A docstring for the new data. @param {string} docstring @param {Exchange} exchange */
function rewritten(docstring, exchange) {
  const [title, ...body] = docstring.replace(ACCURACY, "").split(/\n[ \t]*\n/);
  const newTitle = retitled(title, exchange);
  const isNamed = newTitle !== title || exchange.names(title);
  const about = body.filter(
    (each) => exchange.names(each) || (isNamed && exchange.describes(each)),
  );
  if (!isNamed && about.length === 0) return [title, ...body].join("\n\n");
  const end = /\s*$/.exec(docstring)?.[0] ?? "";
  const rest = body
    .filter((each) => !about.includes(each))
    .map((each) => each.trimEnd())
    .filter(Boolean);
  const isOneLine = body.length === 0;
  return isOneLine
    ? newTitle
    : `${[newTitle.trimEnd(), exchange.words.about, ...rest].join("\n\n")}${end}`;
}

/** A title with the name of the new data. What it says of the old ones in a clause may be true of them only, and stays. @param {string} title @param {Exchange} exchange */
function retitled(title, exchange) {
  if (!exchange.names(title) || /\b(that|which|who)\b/.test(title)) return title;
  const { noun } = exchange.words;
  return title.replace(
    new RegExp(
      `(\\b(?:the|a|an|two|both)\\s+)?(?:${SETS[exchange.before].names})(\\s+of MNIST)?`,
      "i",
    ),
    (match, ...rest) => {
      const at = /** @type {number} */ (rest.find((each) => typeof each === "number"));
      const isFirst = !/\w/.test(title.slice(0, at));
      return isFirst && /^[A-Z]/.test(match) ? noun[0].toUpperCase() + noun.slice(1) : noun;
    },
  );
}
