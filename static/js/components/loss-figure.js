import { html, useMemo, useState } from "../../vendor/preact.js";
import { uPlot } from "../../vendor/uplot.js";
import * as format from "../words/format.js";
import { t } from "../words/locale.js";
import { Chart } from "./chart.js";

/**
 * @typedef {{name: string, title: string, colour: string, loss: number | null, steps: number[],
 *            losses: (number | null)[]}} Curve
 *   `name`: in the legend; `colour`: a CSS custom property; `loss`: the last
 */

const HEIGHT = 190;

/**
 * The losses of several runs over each other, or other numbers in their place.
 * @param {{curves: Curve[], coincide?: boolean, version?: unknown, title?: string, digits?: (value: number | null) => string}} props
 *   `coincide`: many are the same; `version`: changes with curves that grow in place; `title`, `digits`: of other numbers
 */
export function LossFigure({ curves, coincide, version, title: what, digits = format.loss }) {
  const name = what ?? t().curves.loss;
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null));
  const data = useMemo(() => aligned(curves), [...curves.map(({ losses }) => losses), version]);
  // Later curves cover earlier ones: draw earlier ones wider.
  const wider = (/** @type {number} */ index) =>
    coincide ? Math.min(4.5, 1.5 * (curves.length - 1 - index)) : 0;
  const lines = curves.map(({ title, colour }, index) => ({
    label: title,
    colour,
    width: 1.5 + wider(index),
  }));
  const step = hovered === null ? null : data[0][hovered];
  const shownAt = step === null ? name : what ? t().curves.at(what, step) : t().curves.lossAt(step);
  const summary = t().numbers.clauses(curves.map(({ title, loss }) => `${title} ${digits(loss)}`));
  return html`
    <figure class="figure loss-figure">
      <figcaption>
        <strong>${shownAt}</strong>
        ${curves.map(
          ({ name, colour }, index) => html`
          <span class="legend-entry" key=${name}>
            <span class="legend-line" style=${{ background: `var(${colour})` }}></span>
            ${name}${hovered !== null && html`${" "}<b>${digits(data[index + 1][hovered] ?? null)}</b>`}
          </span>
        `,
        )}
      </figcaption>
      <div class="figure-body">
        <${Chart} key=${curves.map(({ name }) => name).join()} data=${data} lines=${lines} version=${data}
          height=${HEIGHT} format=${format.tick} onHover=${setHovered} label=${t().curves.summary(name, summary)} />
      </div>
    </figure>
  `;
}

/** All curves over one list of steps. @param {Curve[]} curves @returns {[number[], ...(number | null | undefined)[][]]} */
function aligned(curves) {
  if (curves.every(({ steps }) => steps.length === 0)) return [[], ...curves.map(() => [])];
  return /** @type {any} */ (
    uPlot.join(/** @type {any} */ (curves.map(({ steps, losses }) => [steps, losses])))
  );
}
