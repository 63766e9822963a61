import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { largestOf, parseColour } from "../../pictures/plane-colours.js";
import { cssColour, theme } from "../../frame/theme.js";
import { gridValues, valuePixels } from "./value-pixels.js";

/** The rows and columns of the table of numbers. */
const TABLE_SIDE = 8;

/** Values as colours, and some of them as numbers. @param {{grid: import("../../../engine/messages.js").ValueGrid}} props */
export function ValueGrid({ grid }) {
  const words = t().nodeTabs;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const values = gridValues(grid);
  const { rows, columns } = grid;
  const themeName = theme.value;
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !canvas.current) return;
    const pixels = new ImageData(columns.length, rows.length);
    pixels.data.set(valuePixels(values, coloursOf()));
    context.putImageData(pixels, 0, 0);
  }, [grid, themeName]);
  const all = rows.length === grid.total_rows && columns.length === grid.total_columns;
  const largest = largestOf(values);
  return html`
    <figure class="node-grid">
      <canvas width=${columns.length} height=${rows.length} ref=${canvas} role="img"
        aria-label=${words.grid(rows.length, columns.length)}></canvas>
      <figcaption>
        ${largest > 0 && html`<span class="node-scale" aria-hidden="true">−${tick(largest)}<i></i>${tick(largest)}</span>`}
        ${!all && html`<span>${words.part(rows.length, grid.total_rows, columns.length, grid.total_columns)}</span>`}
      </figcaption>
    </figure>
    <details class="node-numbers">
      <summary>${words.numbers}</summary>
      <div class="node-numbers-scroll" tabindex="0" role="region" aria-label=${words.numbers}>
        <table>
          <thead><tr><td></td>${columns.slice(0, TABLE_SIDE).map((column) => html`<th key=${column} scope="col">${column}</th>`)}</tr></thead>
          <tbody>${rows.slice(0, TABLE_SIDE).map(
            (row, down) => html`
            <tr key=${row}><th scope="row">${row}</th>${columns.slice(0, TABLE_SIDE).map(
              (column, across) => html`
              <td key=${column}>${numberText(values[down * columns.length + across])}</td>`,
            )}</tr>
          `,
          )}</tbody>
        </table>
      </div>
    </details>
  `;
}

/** @param {number} value */
const numberText = (value) =>
  Number.isFinite(value) ? tick(value) : String(value).replace("Infinity", "∞");

function coloursOf() {
  const [negative, middle, positive, invalid] = [
    "--series-1",
    "--surface",
    "--series-0",
    "--series-6",
  ].map((name) => parseColour(cssColour(name)));
  return { negative, middle, positive, invalid };
}
