import { html, signal, useEffect } from "../../vendor/preact.js";
import { describe } from "./figure-text.js";

/** @import { ConsoleLine } from "../state/types.js" */

/** The component, once it has been loaded. @type {import("../../vendor/preact.js").Signal<((props: any) => any) | null>} */
export const component = signal(null);

async function load() {
  try {
    component.value = (await import("./output-figure.js")).OutputFigure;
  } catch {
    // The text says what the figure shows; the next one tries again.
  }
}

/** A figure in the output; until its drawing is loaded, in words. @param {{line: ConsoleLine}} props */
export function LazyFigure({ line }) {
  useEffect(() => {
    if (!component.value) load();
  }, []);
  if (component.value) return html`<${component.value} figure=${line.figure} number=${line.id} />`;
  return line.figure ? describe(line.figure) : line.text;
}
