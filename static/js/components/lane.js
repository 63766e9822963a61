import { html, useRef } from "../../vendor/preact.js";

/** @typedef {import("../types.js").TraceEvent} TraceEvent */

const HEIGHT = 26;
const WIDTH = 1000;
/** Shorter pieces are drawn so wide: what was done shall be seen. */
const LEAST_WIDTH = 1.2;
const HELD = new Set(["input", "forward", "gradient", "update"]);
const MOVES = /** @type {Record<string, (index: number, last: number) => number>} */ ({
  ArrowRight: (index, last) => Math.min(index + 1, last),
  ArrowLeft: (index) => Math.max(index - 1, 0),
  Home: () => 0,
  End: (_index, last) => last,
});

/**
 * The kind of work that a delay holds up: it is drawn in a pale shade of its colour.
 * @param {TraceEvent} event
 * @param {TraceEvent[]} events of the same device, in order
 */
function held({ kind, name, end }, events) {
  if (kind !== "delay") return undefined;
  const begun = events.filter((other) => other.start >= end && HELD.has(other.kind));
  const own = begun.filter((other) => name === `${other.name}, held up`);
  return own.at(-1)?.kind ?? begun[0]?.kind;
}

/**
 * One device's work over the time of a step. Tab goes to the lane, arrow keys to its pieces.
 * @param {{device: string, events: TraceEvent[], whole: number, looked: TraceEvent | null,
 *          onLook: (event: TraceEvent | null) => void}} props `whole`: milliseconds of the step
 */
export function Lane({ device, events, whole, looked, onLook }) {
  const current = useRef(-1);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const move = MOVES[event.key];
    if (!move || events.length === 0) return;
    event.preventDefault();
    current.current = move(current.current, events.length - 1);
    onLook(events[current.current]);
  }

  /** @param {any} event */
  function onPointer({ target }) {
    const index = target.dataset?.index;
    if (index === undefined) return onLook(null);
    current.current = Number(index);
    onLook(events[current.current]);
  }

  return html`
    <div class="lane">
      <span class="lane-name" aria-hidden="true">${device}</span>
      <svg class="lane-track" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" tabindex="0"
        role="group" aria-label=${`${device}: ${events.length} pieces of work. Arrow keys walk.`}
        data-testid="lab-lane" data-device=${device} onKeyDown=${onKeyDown} onPointerMove=${onPointer}
        onPointerDown=${onPointer} onPointerLeave=${() => onLook(null)} onBlur=${() => onLook(null)}>
        ${events.map((event, index) => {
          const isTransfer = event.kind === "receive" || event.kind === "send";
          const x = (WIDTH * event.start) / whole;
          const width = Math.max(LEAST_WIDTH, (WIDTH * (event.end - event.start)) / whole);
          return html`<rect key=${index} class="lane-piece" data-kind=${event.kind} data-held=${held(event, events)} data-index=${index}
            data-looked=${event === looked ? "" : undefined} x=${Math.min(x, WIDTH - width)} width=${width}
            y=${isTransfer ? 7 : 2} height=${isTransfer ? HEIGHT - 14 : HEIGHT - 4} />`;
        })}
      </svg>
    </div>
  `;
}
