import {
  html,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../../../vendor/preact.js";
import { count, NONE, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { cssColour, theme } from "../../frame/theme.js";
import { layout, placeAt, ridgesOf } from "./histogram-ridges.js";

/** @import { HistogramSeries } from "../../../engine/messages.js" */
/** @import { Ridges } from "./histogram-ridges.js" */

const HEIGHT = 132;
/** How much of its colour the oldest ridge has. */
const FAINTEST = 0.25;
const COLOURS = { weights: "--series-0", gradients: "--series-1", activations: "--series-2" };
/** Changes of row and bin. @type {Record<string, [number, number]>} */
const KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The histograms of a layer's values over the steps, as ridges one behind the other.
 * @param {{series: HistogramSeries, layer: string}} props
 */
export function HistogramRidge({ series, layer }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState(/** @type {{row: number, bin: number} | null} */ (null));
  const ridges = useMemo(() => ridgesOf(series), [series]);
  const words = t().inspectHistograms;
  const colours = theme.value;
  const last = ridges.steps.length - 1;
  const strays = series.strays.at(-1) ?? 0;
  const at = chosen && {
    row: Math.min(chosen.row, last),
    bin: Math.min(Math.max(chosen.bin, ridges.first), ridges.last),
  };
  const readout = at ? sentence(ridges, at) : state(series);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    return onResize(element, () => setWidth(element.clientWidth));
  }, []);
  useLayoutEffect(() => {
    if (canvas.current && width) draw(canvas.current, ridges, width, COLOURS[series.kind], at);
  }, [ridges, width, colours, at?.row, at?.bin]);

  /** @param {PointerEvent} event */
  function point(event) {
    const {
      left,
      top,
      width: wide,
      height,
    } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    setChosen(
      placeAt(ridges, (event.clientX - left) / wide, (event.clientY - top) / height, HEIGHT),
    );
  }

  /** @param {KeyboardEvent} event */
  function move(event) {
    const change = KEYS[event.key];
    if (!change) return;
    event.preventDefault();
    const { row, bin } = at ?? { row: last, bin: (ridges.first + ridges.last) >> 1 };
    setChosen({
      row: Math.min(last, Math.max(0, row + change[0])),
      bin: Math.min(ridges.last, Math.max(ridges.first, bin + change[1])),
    });
  }

  return html`
    <figure class="ridge" data-kind=${series.kind}>
      <figcaption><strong>${words.kinds[series.kind]}</strong>
        ${strays > 0 && html` <span class="ridge-strays">${words.strays(count(strays))}</span>`}</figcaption>
      <canvas ref=${canvas} class="ridge-picture" height=${HEIGHT} tabindex="0" role="slider"
        aria-label=${words.picture(words.kinds[series.kind], layer)} aria-valuemin="0" aria-valuemax=${last}
        aria-valuenow=${at?.row ?? last} aria-valuetext=${readout} data-testid=${`ridge-${series.kind}`}
        onPointerMove=${point} onPointerDown=${point} onPointerLeave=${() => setChosen(null)}
        onBlur=${() => setChosen(null)} onKeyDown=${move}></canvas>
      <div class="ridge-axis" aria-hidden="true"><span>${tick(ridges.edges(ridges.first))}</span>
        <span>${tick(ridges.edges(ridges.last + 1))}</span></div>
      <p class="ridge-readout">${readout}</p>
    </figure>
  `;
}

/** @param {Ridges} ridges @param {{row: number, bin: number}} at */
function sentence(ridges, { row, bin }) {
  const { counts, edges, steps } = ridges;
  return t().inspectHistograms.bin(
    count(steps[row]),
    tick(edges(bin)),
    tick(edges(bin + 1)),
    count(counts[row][bin]),
  );
}

/** Mean and standard deviation of the last record. @param {HistogramSeries} series */
const state = ({ sizes, spreads }) =>
  t().inspectHistograms.summary(short(sizes.at(-1) ?? null), short(spreads.at(-1) ?? null));

/** @param {number | null} value */
export function short(value) {
  if (value === null) return NONE;
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : tick(value);
}

/** Bins without a gap that have values: from and to. @param {Uint32Array} counts @param {number} first @param {number} last */
function spans(counts, first, last) {
  /** @type {[number, number][]} */
  const all = [];
  for (let bin = first; bin <= last; bin += 1) {
    if (!counts[bin]) continue;
    if (bin > first && counts[bin - 1]) all[all.length - 1][1] = bin;
    else all.push([bin, bin]);
  }
  return all;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Ridges} ridges
 * @param {number} width
 * @param {string} colour a custom property
 * @param {{row: number, bin: number} | null} at the place to mark
 */
function draw(canvas, ridges, width, colour, at) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = globalThis.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
  context.scale(ratio, ratio);
  const [ink, paper, mark] = [colour, "--surface", "--text"].map(cssColour);
  const { base, highest } = layout(ridges, HEIGHT);
  const { first, last, most } = ridges;
  const each = width / (last - first + 1);
  ridges.counts.forEach((counts, row) => {
    const bottom = base(row);
    const height = (/** @type {number} */ bin) =>
      bottom - (most ? (highest * counts[bin]) / most : 0);
    context.beginPath();
    for (const [from, to] of spans(counts, first, last)) {
      context.moveTo((from - first) * each, bottom);
      for (let bin = from; bin <= to; bin += 1)
        context.lineTo((bin - first + 0.5) * each, height(bin));
      context.lineTo((to - first + 1) * each, bottom);
    }
    context.globalAlpha = 1;
    context.fillStyle = paper;
    context.fill();
    const age = ridges.counts.length > 1 ? row / (ridges.counts.length - 1) : 1;
    context.globalAlpha = 0.12 + 0.28 * age;
    context.fillStyle = ink;
    context.fill();
    context.globalAlpha = at?.row === row ? 1 : FAINTEST + (1 - FAINTEST) * age;
    context.strokeStyle = at?.row === row ? mark : ink;
    context.lineWidth = at?.row === row ? 1.6 : 1;
    context.stroke();
  });
  context.globalAlpha = 1;
  if (!at) return;
  const top = base(at.row) - (most ? (highest * ridges.counts[at.row][at.bin]) / most : 0);
  context.fillStyle = mark;
  context.beginPath();
  context.arc((at.bin - first + 0.5) * each, top, 3, 0, 2 * Math.PI);
  context.fill();
}
