// For browsers without JavaScript modules, and in words that they understand.
/** @type {HTMLElement} */ (document.getElementById("early")).setAttribute("data-old", "");
/** @type {HTMLElement} */ (document.getElementById("early-note")).textContent =
  "This browser is too old for playgrad: it does not know JavaScript modules."
  + " Open the page in a recent Chrome, Edge, Firefox or Safari.";
