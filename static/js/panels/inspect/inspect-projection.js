import { html, useMemo, useRef, useState } from "../../../vendor/preact.js";
import { percent } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { floats } from "../../training/task.js";
import { UmapPoints } from "./inspect-umap.js";
import { askProjection } from "./sample-cache.js";
import { ProjectedPoints } from "./projected-points.js";
import { aligned } from "./projection.js";
import { useView } from "./use-view.js";

/**
 * @import { PointsView, Samples } from "./sample-cache.js"
 * @import { Placed } from "./projected-points.js"
 */

/** Principal components of which UMAP makes a plane. */
const UMAP_DIMENSIONS = 50;
const METHODS = /** @type {const} */ (["pca", "umap"]);

/** The samples as points: where a layer of the network puts them. */
export function ProjectionPanel() {
  const [layer, setLayer] = useState("");
  const [method, setMethod] = useState(/** @type {(typeof METHODS)[number]} */ ("pca"));
  const ask = async () => {
    const asked = { method, step: store.past.value?.step ?? null };
    return { ...(await askProjection(layer, method === "umap" ? UMAP_DIMENSIONS : 2)), ...asked };
  };
  const { answer, problem } = useView(ask, [layer, method]);
  const words = t().inspectProjection;
  const isAsking = !answer || (answer.shows === "points" && answer.method !== method);
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${
        answer?.shows === "none" &&
        html`<p class="hint" data-testid="projection-none">${
          answer.reason === "layers" ? words.noLayers : t().inspectSamples.none[answer.reason]
        }</p>`
      }
      ${
        answer?.shows === "points" &&
        html`
        <div class="projection-controls">
          <label class="toggle">${words.layer} <select data-testid="projection-layer" value=${answer.view.layer}
            onChange=${(/** @type {Event} */ event) => setLayer(/** @type {HTMLSelectElement} */ (event.target).value)}>
            ${answer.view.layers.map(
              ({
                name,
                size,
              }) => html`<option key=${name} value=${name} selected=${name === answer.view.layer}>
              ${words.layerOf(name, size)}</option>`,
            )}
          </select></label>
          <label class="toggle">${words.method} <select data-testid="projection-method" value=${method}
            onChange=${(/** @type {Event} */ event) => setMethod(/** @type {typeof method} */ (/** @type {HTMLSelectElement} */ (event.target).value))}>
            ${METHODS.map((name) => html`<option key=${name} value=${name} selected=${name === method}>${words.methods[name]}</option>`)}
          </select></label>
        </div>`
      }
      ${isAsking && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${
        answer?.shows === "points" &&
        !isAsking &&
        (method === "pca"
          ? html`<${Components} key=${answer.view.layer} view=${answer.view} samples=${answer.samples} />`
          : html`<${UmapPoints} key=${`${answer.view.layer} ${answer.step}`} view=${answer.view} samples=${answer.samples} />`)
      }
    </div>
  `;
}

/** The samples in the plane of the first two principal components. @param {{view: PointsView, samples: Samples}} props */
function Components({ view, samples }) {
  const before = useRef(/** @type {Placed | null} */ (null));
  const placed = useMemo(() => {
    const rows = floats(view.rows);
    const next = { rows, points: aligned(floats(view.points), rows, before.current) };
    return (before.current = next);
  }, [view]);
  const [first, second] = view.explained;
  const about = t().inspectProjection.explained(
    percent(first + second, 1),
    percent(first, 1),
    percent(second, 1),
  );
  return html`<${ProjectedPoints} view=${view} samples=${samples} placed=${placed} about=${about} />`;
}
