import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { insertText } from "./editor-access.js";

const INDENTATION = "    ";
/** What a phone's keyboard hides on its second and third page. */
const SYMBOLS = ["(", ")", "[", "]", "=", ",", ".", ":", '"', "_", "#", "*"];

/** Buttons for the symbols of Python, above a phone's keyboard, which stays open. */
export function SymbolRow() {
  /** @param {string} text @param {string} label */
  const button = (
    text,
    label,
  ) => html`<button key=${label} type="button" aria-label=${t().editor.insert(label)}
    onPointerDown=${keepFocus} onClick=${() => insertText(text)}>${text === INDENTATION ? "⇥" : text}</button>`;
  return html`<div class="symbol-row" role="group" aria-label=${t().editor.symbols} data-testid="symbol-row">
    ${button(INDENTATION, t().editor.indentation)}${SYMBOLS.map((text) => button(text, text))}
  </div>`;
}

/** @param {PointerEvent} event */
const keepFocus = (event) => event.preventDefault();
