import { html, useState } from "../../../vendor/preact.js";
import { percent } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { marked, visible } from "../../words/tokens.js";
import { ValueMap } from "./value-map.js";

/**
 * @import { Maps } from "./inspect-attention.js"
 * @import { Palette } from "../../pictures/plane-colours.js"
 */

/** More positions than these have no labels beside the map. */
const MOST_LABELS = 40;

/**
 * The weights of one head: a row for each query, a column for each key. The pointer and the arrow keys
 * read a square.
 * @param {{view: Maps, map: Float32Array, largest: number, palette: Palette, label: string}} props
 */
export function AttentionBoard({ view, map, largest, palette, label }) {
  const [cell, setCell] = useState(/** @type {[query: number, key: number] | null} */ (null));
  const words = t().inspectAttention;
  const { queries, keys, query_tokens: to, key_tokens: from } = view;
  const read = cell && cell[0] < queries && cell[1] < keys ? cell : null;
  const name = (/** @type {string[] | null} */ tokens, /** @type {number} */ at) =>
    words.position(at + 1, tokens && visible(tokens[at]));

  /** @param {PointerEvent} event */
  function point(event) {
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (event.currentTarget);
    const along = (
      /** @type {number} */ offset,
      /** @type {number} */ length,
      /** @type {number} */ count,
    ) => Math.max(0, Math.min(count - 1, Math.floor((offset / length) * count)));
    setCell([along(event.offsetY, clientHeight, queries), along(event.offsetX, clientWidth, keys)]);
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    const step = /** @type {Record<string, [number, number]>} */ ({
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    })[event.key];
    if (!step) return;
    event.preventDefault();
    if (!read) return setCell([0, 0]);
    setCell([
      Math.max(0, Math.min(queries - 1, read[0] + step[0])),
      Math.max(0, Math.min(keys - 1, read[1] + step[1])),
    ]);
  }

  const style = {
    "--queries": queries,
    "--keys": keys,
    "--query": read?.[0] ?? 0,
    "--key": read?.[1] ?? 0,
  };
  return html`
    <p class="attention-reading" role="status" data-testid="attention-reading">${
      read
        ? words.reading(
            name(to, read[0]),
            name(from, read[1]),
            percent(map[read[0] * keys + read[1]], 1),
          )
        : words.choose
    }</p>
    <div class="attention-board" style=${style}>
      ${keys <= MOST_LABELS && html`<${Labels} tokens=${from} count=${keys} at=${read?.[1]} side="keys" />`}
      ${queries <= MOST_LABELS && html`<${Labels} tokens=${to} count=${queries} at=${read?.[0]} side="queries" />`}
      <div class="attention-map" data-testid="attention-map" role="img" tabindex="0" aria-label=${`${label} ${words.keys}`}
        onPointerMove=${point} onPointerDown=${point} onKeyDown=${press}>
        <${ValueMap} values=${map} height=${queries} width=${keys} largest=${largest} palette=${palette} />
        ${read && html`<span class="attention-cell"></span>`}
      </div>
    </div>
  `;
}

/**
 * The tokens along a side of the map, or numbers.
 * @param {{tokens: string[] | null, count: number, at?: number, side: "queries" | "keys"}} props `at`: the one that is read
 */
function Labels({ tokens, count, at, side }) {
  const texts = Array.from({ length: count }, (_, position) =>
    tokens ? marked(tokens[position]) : String(position + 1),
  );
  return html`<div class="attention-labels" data-side=${side} data-testid=${`attention-${side}`} aria-hidden="true"
    data-words=${texts.some((each) => each.length > 2) ? "" : undefined}>
    ${texts.map((text, position) => html`<span key=${position} data-read=${position === at ? "" : undefined}>${text}</span>`)}</div>`;
}
