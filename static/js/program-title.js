/** What a program says of itself. */

/** The docstring at its beginning: its first line, after comments. */
const DOCSTRING =
  /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[rR]?(?:"""|''')\s*([^\n]*?)[.。]?\s*(?:"""|'''|\n|$)/;

/** The first line of a program's docstring, without the full stop; "" for none. @param {string} source */
export const titleIn = (source) => DOCSTRING.exec(source)?.[1] ?? "";
