/** What a program says of itself. */

/** The beginning of its docstring, after comments. No part can match in two ways: else the time would double with each line. */
const BEGIN = /^(?:[ \t]*(?:#[^\n]*)?\n|[ \t]*\r\n)*[rR]?(?:"""|''')\s*/;

/** The first line of a program's docstring, without the full stop; "" for none. @param {string} source */
export function titleIn(source) {
  const begin = BEGIN.exec(source)?.[0].length;
  if (begin === undefined) return "";
  const [line] = source.slice(begin).split("\n", 1);
  const [title] = line.split(/"""|'''/, 1);
  return title.trimEnd().replace(/[.。]$/, "");
}
