import {
  html,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../../../vendor/preact.js";
import { PointLegend } from "../../components/point-legend.js";
import { percent, short } from "../../words/format.js";
import { language, t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { COLOURS, blend, css, readPalette } from "../../pictures/palette.js";
import { decisionsOf, planePixels } from "../../pictures/plane-colours.js";
import { drawPoint } from "../../pictures/point-shapes.js";
import { floats } from "../../training/task.js";
import { cssColour, theme } from "../../frame/theme.js";
import { UnitMaps } from "./unit-maps.js";

/**
 * @import { PlaneData, TargetedPoints, TaskView } from "../../../engine/messages.js"
 * @import { Decisions, Palette } from "../../pictures/plane-colours.js"
 * @typedef {Extract<TaskView, {shows: "plane"}>} PlaneView
 */

const RADIUS = 3.2;

/** The outputs over the plane, behind the points, and the maps of hidden units. @param {{view: PlaneView, names: string[]}} props `names`: of classes, as far as known */
export function BoundaryView({ view, names }) {
  const [withTest, setWithTest] = useState(false);
  const name = theme.value;
  const palette = useMemo(readPalette, [name]);
  const data = /** @type {PlaneData} */ (view.data);
  const range = useMemo(() => rangeOf(data), [data]);
  const field = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { side, scale } = data;
  const words = language.value;
  const outputs = useMemo(() => floats(view.outputs), [view]);
  const decisions = useMemo(() => decisionsOf(outputs, side * side, scale, range), [outputs]);
  const summary = useMemo(() => summaryOf(data, outputs, decisions), [decisions, words]);

  useLayoutEffect(() => {
    const context = field.current?.getContext("2d");
    context?.putImageData(new ImageData(planePixels(decisions, palette), side, side), 0, 0);
  }, [decisions, palette]);

  return html`
    <div class="plane">
      <div class="plane-data">
        <h3 class="hint">${t().task.planeData}</h3>
        <div class="plane-board"><${Points} data=${data} palette=${palette} range=${range} withTest=${withTest} radius=${1.3} /></div>
        <${PointLegend} classes=${data.classes} palette=${palette} range=${range} names=${names} />
        ${
          data.test &&
          html`<label class="toggle"><input type="checkbox" checked=${withTest}
          data-testid="test-points" onChange=${() => setWithTest(!withTest)} />${t().task.testPoints}</label>`
        }
      </div>
      <${UnitMaps} layers=${view.layers} palette=${palette} />
      <div class="plane-picture">
        <p class="plane-height hint" aria-hidden="true"><span>${short(data.up[1])}</span><span>y</span><span>${short(data.up[0])}</span></p>
        <div class="plane-board">
          <canvas class="plane-field" data-testid="boundary" ref=${field} width=${side} height=${side}
            role="img" aria-label=${summary}></canvas>
          <${Points} data=${data} palette=${palette} range=${range} withTest=${withTest} radius=${RADIUS} />
        </div>
        <p class="plane-axis hint"><span>${short(data.across[0])}</span><span>x</span><span>${short(data.across[1])}</span></p>
      </div>
    </div>
  `;
}

/** The lowest and the highest target. @param {PlaneData} data @returns {[number, number]} */
function rangeOf(data) {
  const targets = floats(data.train.targets);
  return targets.reduce(
    ([low, high], each) => [Math.min(low, each), Math.max(high, each)],
    [Infinity, -Infinity],
  );
}

/** @param {PlaneData} data @param {Float32Array} outputs @param {Decisions} decisions */
function summaryOf(data, outputs, { labels }) {
  const words = t().task;
  const place = [...data.across, ...data.up].map(short);
  if (data.scale === "linear") {
    const [low, high] = outputs.reduce(
      ([a, b], each) => [Math.min(a, each), Math.max(b, each)],
      [Infinity, -Infinity],
    );
    return words.plane(place, words.range(short(low), short(high)));
  }
  const counts = new Array(data.classes).fill(0);
  for (const label of labels) counts[label] += 1;
  return words.plane(
    place,
    t().numbers.list(
      counts.map((count, at) => words.shareOfClass(at, percent(count / labels.length, 0))),
    ),
  );
}

/** @param {{data: PlaneData, palette: Palette, range: [number, number], withTest: boolean, radius: number}} props */
function Points({ data, palette, range, withTest, radius }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    function draw() {
      if (!element) return;
      const width = element.clientWidth * devicePixelRatio;
      element.width = element.height = Math.round(width);
      const context = element.getContext("2d");
      if (!context) return;
      const style = { width, data, palette, range, radius: radius * devicePixelRatio };
      drawAll(context, data.train, { ...style, hollow: false });
      if (data.test && withTest) drawAll(context, data.test, { ...style, hollow: true });
    }
    draw();
    return onResize(element, draw);
  }, [data, palette, withTest, radius]);
  return html`<canvas class="plane-points" ref=${canvas} aria-hidden="true"></canvas>`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {TargetedPoints} points
 * @param {{width: number, data: PlaneData, palette: Palette, range: [number, number], radius: number,
 *          hollow: boolean}} style
 */
function drawAll(context, { points, targets }, { width, data, palette, range, radius, hollow }) {
  const places = floats(points);
  const { across, up } = data;
  const isNumber = data.scale === "linear";
  // The colour of a number may equal the surface's.
  const edge = isNumber ? cssColour("--edge-strong") : css(palette.surface);
  floats(targets).forEach((target, at) => {
    const x = (width * (places[2 * at] - across[0])) / (across[1] - across[0]);
    const y = (width * (up[1] - places[2 * at + 1])) / (up[1] - up[0]);
    const colour = isNumber ? blend(palette, target, range) : palette.classes[target % COLOURS];
    drawPoint(context, isNumber ? 0 : target, x, y, radius, css(colour), edge, hollow);
  });
}
