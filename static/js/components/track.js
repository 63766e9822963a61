import { html, useRef } from "../../vendor/preact.js";
import { t } from "../words/locale.js";

/** @typedef {import("../../engine/messages.js").TraceEvent} TraceEvent */

const HEIGHT = 26;
const WIDTH = 1000;
/** The smallest width of a task, so that short ones stay visible. */
const LEAST_WIDTH = 1.2;
const DELAYABLE = new Set(["input", "forward", "gradient", "update"]);
const MOVES = /** @type {Record<string, (index: number, last: number) => number>} */ ({
  ArrowRight: (index, last) => Math.min(index + 1, last),
  ArrowLeft: (index) => Math.max(index - 1, 0),
  Home: () => 0,
  End: (_index, last) => last,
});

/**
 * The kind of the task that a delay precedes: the delay is drawn in a pale shade of its colour.
 * @param {TraceEvent} event
 * @param {TraceEvent[]} events of the same device, in order
 */
function delayedKind({ kind, name, end }, events) {
  if (kind !== "delay") return undefined;
  const later = events.filter((other) => other.start >= end && DELAYABLE.has(other.kind));
  const delayed = later.filter((other) => name === `${other.name}, held up`);
  return delayed.at(-1)?.kind ?? later[0]?.kind;
}

/**
 * One device's tasks over the time of a step. Tab moves to the track, arrow keys to its tasks.
 * @param {{id: string, device: string, events: any[], duration: number, zoom: number, selected: TraceEvent | null,
 *          onSelect: (event: any) => void, onUse?: (event: any) => void}} props `id` begins the test id; `duration`:
 *   milliseconds of the step; `onUse`: a click, or Enter
 */
export function Track({ id, device, events, duration, zoom, selected, onSelect, onUse }) {
  const current = useRef(-1);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const move = MOVES[event.key];
    if (event.key === "Enter" && events[current.current]) onUse?.(events[current.current]);
    if (!move || events.length === 0) return;
    event.preventDefault();
    current.current = move(current.current, events.length - 1);
    onSelect(events[current.current]);
    /** @type {SVGElement} */ (event.currentTarget).children[current.current]?.scrollIntoView({
      block: "nearest",
      inline: "nearest",
    });
  }

  /** @param {any} event */
  const onClick = ({ target }) =>
    target.dataset?.index !== undefined && onUse?.(events[Number(target.dataset.index)]);

  /** @param {any} event */
  function onPointer({ target }) {
    const index = target.dataset?.index;
    if (index === undefined) return onSelect(null);
    current.current = Number(index);
    onSelect(events[current.current]);
  }

  return html`
    <div class="track">
      <span class="track-name" aria-hidden="true">${device}</span>
      <svg class="track-line" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" tabindex="0"
        role="group" aria-label=${t().lab.timeline.track(device, events.length)}
        data-testid=${`${id}-lane`} data-device=${device} data-usable=${onUse && ""} onKeyDown=${onKeyDown} onClick=${onClick} onPointerMove=${onPointer}
        onPointerDown=${onPointer} onPointerLeave=${() => onSelect(null)} onBlur=${() => onSelect(null)}>
        ${events.map((event, index) => {
          const isTransfer = event.kind === "receive" || event.kind === "send";
          const x = (WIDTH * event.start) / duration;
          const width = Math.max(
            LEAST_WIDTH / zoom,
            (WIDTH * (event.end - event.start)) / duration,
          );
          return html`<rect key=${index} class="track-task" data-kind=${event.kind} data-held=${delayedKind(event, events)} data-index=${index}
            data-selected=${event === selected ? "" : undefined} x=${Math.min(x, WIDTH - width)} width=${width}
            y=${isTransfer ? 7 : 2} height=${isTransfer ? HEIGHT - 14 : HEIGHT - 4} />`;
        })}
      </svg>
    </div>
  `;
}
