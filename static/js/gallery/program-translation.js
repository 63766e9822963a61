/** The program of an example in another language: its texts are replaced, line by line; the code is the same. */

/** A string with three quotes, a string on one line, or a comment; each begins and ends with its marks. */
const TEXT = /(""")([^]*?)"""|(")((?:[^"\\\n]|\\.)*)"|(# )([^\n]*)/g;
/** Characters that take two columns. */
const WIDE = /[\u2e80-\u9fff\uff00-\uffe6]/gu;
/** What is not broken: a Chinese character or a word, with the punctuation around it. */
const UNIT =
  /[（“]*(?:\p{Script=Han}|[^\p{Script=Han}\s（“，。、；：？）”]+)?[，。、；：？）”]*\s*/gu;
const WIDEST = 72;

/**
 * @param {string} source in English
 * @param {{title: string, description: string}} words for its docstring
 * @param {Record<string, string>} texts by the English ones
 */
export function translated(source, { title, description }, texts) {
  let isFirst = true;
  return source.replace(TEXT, (whole, ...groups) => {
    const [mark, text] =
      [0, 2, 4].map((at) => [groups[at], groups[at + 1]]).find(([each]) => each) ?? [];
    if (!isFirst)
      return Object.hasOwn(texts, text) ? whole.replace(text, () => texts[text]) : whole;
    isFirst = false;
    const lines = text.trimEnd().split("\n").length - 2; // below the title and an empty line
    return `${mark}${title}。\n\n${wrapped(description, lines).join("\n")}\n${mark}`;
  });
}

/** The text in a number of lines that are about as long as each other. @param {string} text @param {number} count */
function wrapped(text, count) {
  const units = text.match(UNIT) ?? [];
  let lines = filled(units, WIDEST);
  for (let width = WIDEST - 1; width > 0; width -= 1) {
    const narrower = filled(units, width);
    if (narrower.length > count) break;
    lines = narrower;
  }
  return lines;
}

/** @param {string[]} units @param {number} width in columns */
function filled(units, width) {
  const lines = [""];
  for (const unit of units) {
    const line = lines[lines.length - 1];
    if (line && columns((line + unit).trimEnd()) > width) lines.push(unit);
    else lines[lines.length - 1] += unit;
  }
  return lines.map((line) => line.trimEnd());
}

/** @param {string} text */
const columns = (text) => text.length + (text.match(WIDE)?.length ?? 0);
