// For browsers without JavaScript modules, and in words that they understand. No message file arrives in
// them, so the sentences of both languages stand here; see early-language.js.
{
  const WORDS = {
    en: {
      tooOld:
        "This browser is too old for playgrad: it does not know JavaScript modules." +
        " Open the page in a recent Chrome, Edge, Firefox or Safari.",
    },
    "zh-Hans": {
      tooOld:
        "此浏览器版本太旧，无法运行 playgrad：它不支持 JavaScript 模块。请用较新的 Chrome、Edge、Firefox 或 Safari 打开本页。",
    },
  };
  const words = WORDS[document.documentElement.lang === "zh-Hans" ? "zh-Hans" : "en"];
  /** @type {HTMLElement} */ (document.getElementById("early")).setAttribute("data-old", "");
  /** @type {HTMLElement} */ (document.getElementById("early-note")).textContent = words.tooOld;
}
