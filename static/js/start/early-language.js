// A classic script that runs before the first paint: the language of the page's texts before a module,
// and with it a message file, has arrived. The same choice as in locale.js; in words that browsers
// without modules understand, since early-old.js needs it, too.
{
  // WebKitGTK has the language "C" under the locale of that name, which Intl refuses. Libraries read it, too.
  const isTag = function (/** @type {string} */ tag) {
    try {
      return typeof Intl !== "object" || Intl.getCanonicalLocales(tag).length === 1;
    } catch (invalid) {
      return /** @type {Error} */ (invalid).name !== "RangeError";
    }
  };
  /** @type {string[]} */
  const all = [].slice.call(navigator.languages || [navigator.language]);
  if (!all.concat(navigator.language).every(isTag)) {
    const languages = all.filter(isTag).concat("en-US");
    Object.defineProperty(navigator, "languages", { value: Object.freeze(languages) });
    Object.defineProperty(navigator, "language", { value: languages[0] });
  }

  let choice = "";
  try {
    choice = localStorage.getItem("playgrad.language") || "";
  } catch (forbidden) {
    void forbidden; // then the browser's languages decide
  }
  const known = function (/** @type {string} */ tag) {
    const full =
      typeof Intl === "object" && Intl.Locale ? new Intl.Locale(tag).maximize().toString() : tag;
    if (/^en\b/.test(full)) return "en";
    return /^zh(?!-(Hant|TW|HK|MO)\b)\b/.test(full) ? "zh-Hans" : "";
  };
  const chosen =
    choice === "en" || choice === "zh-Hans"
      ? [choice]
      : [].slice.call(navigator.languages || [navigator.language]);
  document.documentElement.lang = chosen.map(known).filter(Boolean)[0] || "en";
}
