import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { axis } from "../../pictures/plot-geometry.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { paretoFront } from "./front.js";
import { familyOf, nameOf, valueOf } from "./versions.js";

/** @typedef {import("../../../engine/messages.js").ShrunkPoint} ShrunkPoint */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const HEIGHT = 250;
const FRAME = { left: 54, right: 16, top: 14, bottom: 38 };
const TICKS_UP = 6;
/** Doublings of bytes from which labels between them would be too many, and the labels of more doublings. */
const [FEW, MOST_TICKS] = [3, 6];
/** Of a label, in pixels. */
const [LETTER, LINE] = [6.6, 15];
const RADIUS = 5.5;

/** A mark for each way of making a network smaller, so that colour alone says nothing. @type {Record<string, string>} */
const MARKS = {
  original: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0",
  bits: "M-5-5H5V5H-5z",
  sparsity: "M0-6.5L6 4.5H-6z",
  clusters: "M0-6.5L6.5 0L0 6.5L-6.5 0z",
};

/**
 * Size against accuracy of all versions. The table below it has the same numbers.
 * @param {{points: ShrunkPoint[], chosen: string | null, onChoose: (name: string) => void}} props
 */
export function ShrinkCurve({ points, chosen, onChoose }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const body = /** @type {HTMLElement} */ (place.current);
    const observer = new ResizeObserver(() => setWidth(Math.max(240, body.clientWidth)));
    observer.observe(body);
    return () => observer.disconnect();
  }, []);
  const words = t().shrink;
  const known = points.filter(({ value }) => Number.isFinite(value));
  const front = paretoFront(known);
  const isLoss = known[0]?.metric === "loss";
  const [right, bottom] = [width - FRAME.right, HEIGHT - FRAME.bottom];
  const across = logAxis(
    known.map(({ gzip }) => gzip),
    FRAME.left + 12,
    right - 12,
  );
  const up = axis(
    known.map(({ value }) => value),
    bottom - 12,
    FRAME.top + 12,
    TICKS_UP,
  );
  const at = (/** @type {ShrunkPoint} */ each) => ({
    x: across.place(each.gzip),
    y: up.place(each.value),
  });
  const labels = labelled(known, front, at, { left: FRAME.left, right });
  const summary = words.picture(
    front.map((each) => `${nameOf(each.name)}, ${format.bytes(each.gzip)}, ${valueOf(each)}`),
  );
  return html`
    <figure class="shrink-figure" ref=${place}>
      <svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${summary} data-testid="shrink-curve">
        ${up.ticks.map(
          (
            { place: y },
            index,
          ) => html`<path key=${index} class="shrink-grid" d=${`M${FRAME.left} ${y}H${right}`} />
          <text class="shrink-tick" x=${FRAME.left - 7} y=${y + 4} text-anchor="end">${tick(up, index, isLoss)}</text>`,
        )}
        ${across.ticks.map(
          (
            bytes,
          ) => html`<path key=${bytes} class="shrink-grid" d=${`M${across.place(bytes)} ${FRAME.top}V${bottom}`} />
          <text class="shrink-tick" x=${across.place(bytes)} y=${bottom + 16} text-anchor="middle">${format.bytes(bytes)}</text>`,
        )}
        <text class="shrink-axis" x=${right} y=${HEIGHT - 4} text-anchor="end">${words.axisBytes}</text>
        <text class="shrink-axis" x=${FRAME.left} y=${FRAME.top - 3}>${isLoss ? words.axisLoss : words.axisAccuracy}</text>
        ${front.length > 1 && html`<polyline class="shrink-front" points=${front.map((each) => `${at(each).x},${at(each).y}`).join(" ")} />`}
        ${known.map((each) => {
          const { x, y } = at(each);
          return html`<g key=${each.name} class="shrink-point" transform=${`translate(${x} ${y})`} data-family=${familyOf(each.name)}
            data-name=${each.name} data-front=${front.includes(each) ? "" : undefined} data-chosen=${each.name === chosen ? "" : undefined}
            onClick=${() => onChoose(each.name)}>
            <title>${words.pointTitle(nameOf(each.name), format.bytes(each.gzip), valueOf(each))}</title>
            <circle class="shrink-target" r="13" /><path d=${MARKS[familyOf(each.name)]} /></g>`;
        })}
        ${labels.map(
          ({
            name,
            x,
            y,
            anchor,
          }) => html`<text key=${name} class="shrink-label" x=${x} y=${y} text-anchor=${anchor}
          data-chosen=${name === chosen ? "" : undefined}>${nameOf(name)}</text>`,
        )}
      </svg>
      ${known.length === 0 && html`<p class="shrink-empty">${words.measuring}</p>`}
    </figure>
    <ul class="shrink-legend" aria-hidden="true">
      <li><svg width="26" height="14"><path class="shrink-front" d="M1 7H25" /><path class="shrink-key" data-front d="M8 2H18V12H8z" /></svg>${words.front}</li>
      <li><svg width="14" height="14"><path class="shrink-key" d="M2 2H12V12H2z" /></svg>${words.beaten}</li>
    </ul>
  `;
}

/** @param {import("../../pictures/plot-geometry.js").Axis} up @param {number} index @param {boolean} isLoss */
function tick(up, index, isLoss) {
  const { label } = up.ticks[index];
  if (isLoss) return label;
  const percent = Number(label.replace("−", "-")) * 100;
  return `${Number(percent.toFixed(2))}%`;
}

/** A logarithmic axis with labels at powers of two, and half-way between few of them. @param {number[]} values @param {number} start @param {number} end */
function logAxis(values, start, end) {
  const logs = values.map((value) => Math.log2(Math.max(value, 1)));
  let [low, high] = logs.length > 0 ? [Math.min(...logs), Math.max(...logs)] : [8, 12];
  if (high - low < 1.5) [low, high] = [low - 0.75, high + 0.75];
  const step = Math.ceil((high - low) / MOST_TICKS);
  const first = Math.ceil(low / step) * step;
  const ticks = [];
  for (let power = first - step; power <= high; power += step)
    for (const bytes of high - low < FEW ? [2 ** power, 1.5 * 2 ** power] : [2 ** power])
      if (Math.log2(bytes) >= low && Math.log2(bytes) <= high) ticks.push(bytes);
  const place = (/** @type {number} */ bytes) =>
    start + ((Math.log2(Math.max(bytes, 1)) - low) / (high - low)) * (end - start);
  return { ticks, place };
}

/**
 * Names beside the points, where there is room; those of the front first.
 * @param {ShrunkPoint[]} points @param {ShrunkPoint[]} front
 * @param {(point: ShrunkPoint) => {x: number, y: number}} at @param {{left: number, right: number}} limits
 */
function labelled(points, front, at, { left, right }) {
  /** @type {Box[]} */
  const taken = points.map((each) => around(at(each).x, at(each).y));
  const placed = [];
  for (const each of [...front, ...points.filter((point) => !front.includes(point))]) {
    const { x, y } = at(each);
    const width =
      LETTER * [...nameOf(each.name)].reduce((sum, letter) => sum + (letter > "⺀" ? 1.9 : 1), 0);
    const choices = [
      { x, y: y - 11, anchor: "middle", from: x - width / 2 },
      { x, y: y + 20, anchor: "middle", from: x - width / 2 },
      { x: x - 6, y: y - 11, anchor: "start", from: x - 6 },
      { x: x + 11, y: y + 4, anchor: "start", from: x + 11 },
      { x: x - 11, y: y + 4, anchor: "end", from: x - 11 - width },
    ];
    for (const choice of choices) {
      const box = { x: choice.from, y: choice.y - 11, width, height: LINE };
      const isInside =
        box.x >= left &&
        box.x + width <= right + 12 &&
        box.y > 0 &&
        box.y + LINE < HEIGHT - FRAME.bottom;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      placed.push({ name: each.name, ...choice });
      break;
    }
  }
  return placed;
}

/** @param {number} x @param {number} y @returns {Box} */
const around = (x, y) => ({ x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS });

/** @param {Box} one @param {Box} other */
const overlap = (one, other) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
