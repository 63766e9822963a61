import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { SavePicture } from "../components/save-picture-button.js";
import { offer } from "../files/download.js";
import { t } from "../words/locale.js";
import { columnsFor, gridPixels } from "../pictures/picture-pixels.js";
import { parseColour } from "../pictures/plane-colours.js";
import { geometry } from "../pictures/plot-geometry.js";
import { cssColour, theme } from "../frame/theme.js";
import { describe, numbers, short } from "./figure-text.js";

/** @import { Figure } from "../../engine/messages.js" */
/** @typedef {Extract<Figure, {shows: "plot"}>} Plot */
/** @typedef {Extract<Figure, {shows: "image"}>} Image */

const FRAME = { width: 480, height: 210, left: 52, right: 12, top: 10, bottom: 26 };
const COLOURS = 8;
const RADIUS = 2.2;
const MOST_ROWS = 200;
/** The sides of a picture on the page, in pixels. */
const LEAST_SIDE = 132;
const MOST_WIDTH = 460;

/** A figure in the output. @param {{figure: Figure, number: number}} props `number`: tells figures apart */
export function OutputFigure({ figure, number }) {
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const [asTable, setAsTable] = useState(false);
  const isPlot = figure.shows === "plot";
  const name =
    figure.title
      .replace(/[^\w-]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || `figure-${number}`;
  return html`
    <figure class="output-figure" data-testid="output-figure" ref=${root} aria-label=${describe(figure)}>
      <div class="output-figure-head">
        <strong>${figure.shows !== "image" && figure.title}</strong>
        <span class="output-figure-tools" data-no-picture>
          ${
            isPlot &&
            html`<button type="button" class="button quiet small" aria-pressed=${asTable}
            data-testid="figure-table" onClick=${() => setAsTable(!asTable)}>${t().output.asTable}</button>`
          }
          ${
            figure.shows === "image"
              ? html`<${SaveImage} image=${figure} name=${name} />`
              : html`<${SavePicture} of=${() => root.current} name=${name} what=${figure.title || t().output.thisFigure} id="figure" />`
          }
        </span>
      </div>
      ${
        isPlot
          ? asTable
            ? html`<${Table} plot=${figure} />`
            : html`<${PlotView} plot=${figure} />`
          : figure.shows === "image"
            ? html`<${ImageView} image=${figure} />`
            : html`<${PicturesView} figure=${figure} />`
      }
    </figure>
  `;
}

/** @param {{plot: Plot}} props */
function PlotView({ plot }) {
  const { series, style, x_label: xLabel, y_label: yLabel } = plot;
  const { across, up, marks } = useMemo(
    () =>
      geometry(
        series.map(({ x, y }) => ({ x: numbers(x), y: numbers(y) })),
        FRAME,
        style === "points",
      ),
    [plot],
  );
  const [right, bottom] = [FRAME.width - FRAME.right, FRAME.height - FRAME.bottom];
  return html`
    <div class="plot-names">
      ${yLabel && html`<span>${yLabel}</span>`}
      ${series.map(
        ({ label }, at) =>
          label &&
          html`
        <span class="legend-entry" key=${at}><span class="legend-line" style=${{ background: `var(--series-${at % COLOURS})` }}></span>${label}</span>
      `,
      )}
    </div>
    <svg class="plot" viewBox=${`0 0 ${FRAME.width} ${FRAME.height}`} role="img" aria-label=${describe(plot)}>
      ${up.ticks.map(
        ({ place, label }) => html`
        <path class="plot-grid" d=${`M${FRAME.left} ${place}H${right}`} />
        <text class="plot-tick" x=${FRAME.left - 6} y=${place + 4} text-anchor="end">${label}</text>
      `,
      )}
      ${across.ticks.map(
        ({ place, label }) => html`
        <path class="plot-grid" d=${`M${place} ${FRAME.top}V${bottom}`} />
        <text class="plot-tick" x=${place} y=${bottom + 15} text-anchor="middle">${label}</text>
      `,
      )}
      ${marks.map(
        ({ d, points }, at) => html`
        <g class="plot-series" data-series=${at % COLOURS} key=${at}>
          ${d && html`<path class="plot-line" d=${d} />`}
          ${points.map(([x, y]) => html`<circle class="plot-point" cx=${x} cy=${y} r=${RADIUS} />`)}
        </g>
      `,
      )}
    </svg>
    ${xLabel && html`<p class="plot-across">${xLabel}</p>`}
  `;
}

/** The points of a plot as a table; of many, a sample. @param {{plot: Plot}} props */
function Table({ plot }) {
  const rows = plot.series.flatMap(({ label, x, y, total }, at) => {
    const [places, values] = [numbers(x), numbers(y)];
    const every = Math.ceil((places.length * plot.series.length) / MOST_ROWS);
    return Array.from(places, (place, index) => ({
      name: label || (plot.series.length > 1 ? String(at) : ""),
      place,
      value: values[index],
      index,
      total,
    })).filter(({ index }) => index % every === 0 || index === places.length - 1);
  });
  const isWhole = rows.length === plot.series.reduce((sum, { total }) => sum + total, 0);
  return html`
    <div class="tables output-table" tabindex="0" role="region" aria-label=${t().output.table}>
      <table>
        <caption>${isWhole ? t().output.allValues : t().output.sample}</caption>
        <thead><tr>${plot.series.length > 1 && html`<th scope="col">${t().output.series}</th>`}
          <th scope="col">${plot.x_label || "x"}</th><th scope="col">${plot.y_label || "y"}</th></tr></thead>
        <tbody>${rows.map(
          ({ name, place, value }, at) => html`
          <tr key=${at}>${plot.series.length > 1 && html`<td>${name}</td>`}
            <td>${short(place)}</td><td>${Number.isNaN(value) ? "–" : short(value)}</td></tr>`,
        )}</tbody>
      </table>
    </div>
  `;
}

const PNG = "PNG";

/** @param {{image: Image, name: string}} props */
function SaveImage({ image, name }) {
  const label = t().pictures.save(image.title || t().output.thisFigure, PNG);
  return html`<span class="save-picture"><button type="button" class="button quiet small" data-testid="figure-png"
    title=${label} aria-label=${label} onClick=${() => offer(`${name}.png`, blobOf(image))}><${Icon} name="save" />${PNG}</button></span>`;
}

/** @param {Image} image */
const blobOf = ({ png }) => new Blob([new Uint8Array(png)], { type: "image/png" });

/** A figure that was drawn in Python. @param {{image: Image}} props */
function ImageView({ image }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));

  useEffect(() => {
    createImageBitmap(blobOf(image)).then(
      (bitmap) => {
        const { current } = canvas;
        if (current) {
          [current.width, current.height] = [bitmap.width, bitmap.height];
          current.getContext("2d")?.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      },
      () => {}, // a program may send a broken image
    );
  }, [image]);

  return html`
    <canvas class="output-image" ref=${canvas} width=${image.width} height=${image.height} role="img"
      aria-label=${describe(image)} style=${{ width: `${image.width}px` }}></canvas>
  `;
}

/** @param {{figure: Extract<Figure, {shows: "pictures"}>}} props */
function PicturesView({ figure }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const colours = theme.value;
  const columns = columnsFor(figure.count);
  const gap = figure.count > 1 ? 1 : 0;
  const width = columns * (figure.width + gap) - gap;
  const height = Math.ceil(figure.count / columns) * (figure.height + gap) - gap;
  // Whole pixels of the page for each of the picture's, as long as it is small.
  const scale = Math.max(
    1,
    Math.min(
      Math.ceil(LEAST_SIDE / Math.max(figure.width, figure.height)),
      24,
      Math.floor(MOST_WIDTH / width),
    ),
  );

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const [negative, middle, positive] = ["--series-0", "--surface", "--series-1"].map((name) =>
      parseColour(cssColour(name)),
    );
    const grid = gridPixels(figure, { negative, middle, positive });
    context.putImageData(new ImageData(grid.rgba, grid.width, grid.height), 0, 0);
  }, [figure, colours]);

  return html`
    <canvas class="output-picture" ref=${canvas} width=${width} height=${height} role="img" aria-label=${describe(figure)}
      style=${{ width: `${width * scale}px` }}></canvas>
    <p class="plot-names">
      ${
        figure.scale !== "colour" &&
        html`<span class="picture-scale"><span>${short(figure.low)}</span>
        <span class="picture-ramp" data-scale=${figure.scale} data-no-picture aria-hidden="true"></span><span>${short(figure.high)}</span></span>`
      }
      <span>${figure.count > 1 ? t().output.pictures(figure.count) : ""}${figure.height} × ${figure.width}${figure.note ? `; ${figure.note}` : ""}</span>
    </p>
  `;
}
