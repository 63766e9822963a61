import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { paretoFront } from "./front.js";
import { ORIGINAL } from "./shrink.js";
import { aboutOf, changeOf, nameOf, valueOf } from "./versions.js";

/** @typedef {import("../../../engine/messages.js").ShrunkPoint} ShrunkPoint */

/**
 * All versions, and those that are still to come: the picture in numbers, and the way to choose one by the keyboard.
 * @param {{versions: string[], points: ShrunkPoint[], failures: Record<string, string>, current: string | undefined,
 *          chosen: string | null, onChoose: (name: string) => void}} props
 */
export function ShrinkTable({ versions, points, failures, current, chosen, onChoose }) {
  const words = t().shrink;
  const { columns } = words;
  const front = paretoFront(points);
  const original = points.find(({ name }) => name === ORIGINAL);
  const isLoss = points[0]?.metric === "loss";
  return html`
    <div class="tables shrink-table" tabindex="0" role="region" aria-label=${words.table}>
      <table data-testid="shrink-table">
        <thead><tr>
          <th scope="col">${columns.version}</th><th scope="col">${columns.bytes}</th><th scope="col">${columns.smaller}</th>
          <th scope="col">${isLoss ? columns.loss : columns.accuracy}</th><th scope="col">${isLoss ? columns.change : columns.points}</th>
          <th scope="col"><span class="visually-hidden">${columns.front}</span></th>
        </tr></thead>
        <tbody>${versions.map((name) => {
          const point = points.find((each) => each.name === name);
          return html`<tr key=${name} data-testid="shrink-row" data-name=${name} data-shown=${name === chosen ? "" : undefined}
            data-state=${point ? "ready" : name in failures ? "failed" : name === current ? "working" : "waiting"}>
            <th scope="row"><button type="button" class="link" aria-pressed=${name === chosen} title=${aboutOf(name)} disabled=${!point}
              onClick=${() => onChoose(name)}>${nameOf(name)}</button></th>
            ${point ? cells(point, original, front.includes(point)) : html`<td colspan="5" class="shrink-wait">${failures[name] ?? (name === current ? words.working : words.waiting)}</td>`}
          </tr>`;
        })}</tbody>
      </table>
    </div>
  `;
}

/** @param {ShrunkPoint} point @param {ShrunkPoint | undefined} original @param {boolean} isOnFront */
function cells(point, original, isOnFront) {
  const isOriginal = point === original;
  return html`
    <td>${format.bytes(point.gzip)}</td>
    <td>${original && !isOriginal ? `${(original.gzip / point.gzip).toFixed(1)} ×` : ""}</td>
    <td>${valueOf(point)}</td>
    <td>${original && !isOriginal ? changeOf(point, original) : ""}</td>
    <td class="shrink-mark">${isOnFront && html`<span title=${t().shrink.onFront}><span aria-hidden="true">★</span><span class="visually-hidden">${t().shrink.onFront}</span></span>`}</td>
  `;
}
