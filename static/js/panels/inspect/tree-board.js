import { html } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { placed } from "./tree-places.js";

/** @import { JoinedTrees } from "../../../engine/messages.js" */

/** Pixels of a row, the same as in the bars beside it. */
export const ROW = 34;
const COLUMN = 48;
const MARGIN = 30;
const COLOURS = 8;

/** The colour of a kind. @param {number} kind */
export const colourOf = (kind) => `var(--series-${kind % COLOURS})`;

/**
 * The calls of one sample as a tree, each in the row of its depth, and the row that is looked at.
 * @param {{view: JoinedTrees, depth: number | null, onDepth: (depth: number | null) => void}} props
 */
export function TreeBoard({ view, depth, onDepth }) {
  const words = t().inspectTrees;
  const { calls, depths, kinds } = view;
  const { places, columns } = placed(calls);
  const width = 2 * MARGIN + COLUMN * (columns - 1);
  const height = ROW * depths;
  const x = (/** @type {number} */ column) => MARGIN + COLUMN * column;
  const y = (/** @type {number} */ of) => ROW * (of + 0.5);
  return html`
    <div class="tree-scroll" tabindex="0" role="img" aria-label=${words.picture(view.size, depths)} data-testid="tree-board">
      <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} aria-hidden="true">
        ${depth !== null && html`<rect class="tree-row" x="0" y=${y(depth) - ROW / 2} width=${width} height=${ROW} />`}
        ${places.flatMap(({ call, at, column }) =>
          call.takes
            .filter((each) => each < places.length)
            .map((each, argument) => {
              const below = places[each];
              return html`<line key=${`${at}-${argument}`} class="tree-edge" x1=${x(column)} y1=${y(call.depth)} x2=${x(below.column)} y2=${y(below.call.depth)} />`;
            }),
        )}
        ${places.map(({ call, at, column }) => {
          const title = kinds[call.kind].title;
          const text = call.takes.length === 0 && call.label ? call.label : shortOf(title);
          return html`<g key=${at} data-testid="tree-call" data-kind=${title} data-depth=${call.depth} data-result=${call.result ? "" : undefined}
            style=${{ "--kind": colourOf(call.kind) }} onPointerEnter=${() => onDepth(call.depth)}>
            <title>${words.call(title, call.depth, call.label)}</title>
            <rect class="tree-call" x=${x(column) - 21} y=${y(call.depth) - 11} width="42" height="22" rx="11" />
            <text x=${x(column)} y=${y(call.depth) + 4} text-anchor="middle">${text.length > 6 ? `${text.slice(0, 5)}…` : text}</text>
          </g>`;
        })}
      </svg>
    </div>
  `;
}

/** A title for a small shape: what the function is called with, or its name. @param {string} title */
function shortOf(title) {
  return /^\w+\('?([^',)]+)/.exec(title)?.[1] ?? title;
}
