/** Templates (`html`) stay as written: breaking a line in one can remove a space of the page. */
export default { printWidth: 100, embeddedLanguageFormatting: "off" };
