import { html, useMemo, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { attempt } from "./data-table-form.js";
import { SplitFields, UseData } from "./data-use.js";
import { pointsSet } from "./points-set.js";

/** @import { Point } from "./points-set.js" */

/** Half of the side of the plane, in its units. */
const REACH = 1;
const SIZE = 200;
/** How far a key moves the cursor, in units. */
const STEP = 0.05;
const MOST_POINTS = 2000;
/** The least distance between points of one stroke. */
const GAP = 0.08;
const NAMES = ["A", "B"];

/** Points of two classes, placed on a plane by hand. */
export function PointsForm() {
  const [points, setPoints] = useState(/** @type {Point[]} */ ([]));
  const [label, setLabel] = useState(0);
  const [cursor, setCursor] = useState({ x: 0, y: 0 });
  const [isDrawing, setDrawing] = useState(false);
  const [choices, setChoices] = useState({ test: 0.3, seed: 0 });
  const counts = NAMES.map((_, each) => points.filter((point) => point.label === each).length);
  const isReady = counts.every((each) => each > 1);
  const { value: set, problem } = useMemo(
    () =>
      isReady ? attempt(() => pointsSet(points, NAMES, choices)) : { value: null, problem: "" },
    [points, choices],
  );

  /** @param {{x: number, y: number}} place @param {number} [gap] to the last point */
  const add = ({ x, y }, gap = 0) =>
    setPoints((before) => {
      const last = before.at(-1);
      const isNear = last && last.label === label && Math.hypot(last.x - x, last.y - y) < gap;
      const isInside = Math.max(Math.abs(x), Math.abs(y)) <= REACH;
      return isNear || !isInside || before.length >= MOST_POINTS
        ? before
        : [...before, { x, y, label }];
    });
  /** @param {PointerEvent} event */
  function placeOf(event) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    return {
      x: REACH * ((2 * (event.clientX - box.left)) / box.width - 1),
      y: REACH * (1 - (2 * (event.clientY - box.top)) / box.height),
    };
  }
  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const move = {
      ArrowLeft: [-STEP, 0],
      ArrowRight: [STEP, 0],
      ArrowUp: [0, STEP],
      ArrowDown: [0, -STEP],
    }[event.key];
    if (move) setCursor({ x: clamp(cursor.x + move[0]), y: clamp(cursor.y + move[1]) });
    else if (event.key === " " || event.key === "Enter") add(cursor);
    else if (event.key === "Backspace") setPoints(points.slice(0, -1));
    else return;
    event.preventDefault();
  }
  const words = t().dataForms.points;
  const at = ({ x = 0, y = 0 }) => ({
    x: (SIZE / 2) * (1 + x / REACH),
    y: (SIZE / 2) * (1 - y / REACH),
  });
  const { x: cursorX, y: cursorY } = at(cursor);
  return html`<section class="data-form" aria-label=${words.label}>
    <h3>${words.title}</h3>
    <p class="hint">${words.hint}</p>
    <div class="data-ways" role="group" aria-label=${words.next}>
      ${NAMES.map(
        (
          name,
          each,
        ) => html`<button key=${name} type="button" class="button" data-class=${each} data-testid="data-point-class"
        aria-pressed=${each === label} onClick=${() => setLabel(each)}><span class="data-dot" data-class=${each}></span>${words.count(name, counts[each])}</button>`,
      )}
      <button type="button" class="button quiet" disabled=${points.length === 0} onClick=${() => setPoints(points.slice(0, -1))}>${words.takeBack}</button>
      <button type="button" class="button quiet" disabled=${points.length === 0} onClick=${() => setPoints([])}>${words.clear}</button>
    </div>
    <svg class="data-plane" data-testid="data-plane" viewBox=${`0 0 ${SIZE} ${SIZE}`} tabindex="0" role="application"
      aria-label=${words.plane(points.length, cursor.x.toFixed(2), cursor.y.toFixed(2))}
      onKeyDown=${onKeyDown}
      onPointerDown=${(/** @type {PointerEvent} */ event) => {
        /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
        setDrawing(true);
        add(placeOf(event));
      }}
      onPointerMove=${(/** @type {PointerEvent} */ event) => isDrawing && add(placeOf(event), GAP)}
      onPointerUp=${() => setDrawing(false)} onPointerCancel=${() => setDrawing(false)}>
      <path class="data-axes" d=${`M${SIZE / 2} 0V${SIZE}M0 ${SIZE / 2}H${SIZE}`} />
      ${points.map((point, index) => {
        const { x, y } = at(point);
        return point.label === 0
          ? html`<circle key=${index} data-class="0" cx=${x} cy=${y} r="3" />`
          : html`<rect key=${index} data-class="1" x=${x - 2.6} y=${y - 2.6} width="5.2" height="5.2" />`;
      })}
      <path class="data-cross" d=${`M${cursorX - 5} ${cursorY}h10M${cursorX} ${cursorY - 5}v10`} />
    </svg>
    ${
      isReady
        ? html`<div class="data-fields"><${SplitFields} ...${choices} change=${(/** @type {object} */ some) => setChoices({ ...choices, ...some })} /></div>
          <${UseData} set=${set} problem=${problem} file="points" />`
        : html`<p class="hint">${words.tooFew}</p>`
    }
  </section>`;
}

/** @param {number} value */
const clamp = (value) => Math.max(-REACH, Math.min(REACH, Math.round(value / STEP) * STEP));
