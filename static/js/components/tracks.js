import { html, useState } from "../../vendor/preact.js";
import { WORK_KINDS, ticks } from "../panels/lab/lab.js";
import { t } from "../words/locale.js";
import { Track } from "./track.js";

/** @import { TraceEvent } from "../../engine/messages.js" */

/**
 * A track for each device, over a common time axis, with a line about the task that is pointed at.
 * @template {TraceEvent} E
 * @param {{id: string, devices: string[], events: E[], duration: number, describe: (event: E) => string, hint: string,
 *          zoom?: number, scroller?: {current: HTMLElement | null}, chosen?: E | null, onUse?: (event: E) => void}} props
 *   `id` begins the test ids; `duration`: milliseconds of the axis; `zoom`: width of the tracks as a multiple of the
 *   visible part, which is in `scroller`; `chosen`: the task that was used last
 */
export function Tracks({
  id,
  devices,
  events,
  duration,
  describe,
  hint,
  zoom = 1,
  scroller,
  chosen = null,
  onUse,
}) {
  const [pointed, setPointed] = useState(/** @type {E | null} */ (null));
  const { timeline: words, kinds } = t().lab;
  const whole = Math.max(duration, 1e-6);
  const present = new Set(events.map(({ kind }) => kind));
  const selected = pointed ?? chosen;
  return html`
    <div class="tracks">
      <div class="track-scroll" ref=${scroller}>
        <div class="track-lanes" data-testid=${`${id}-lanes`} style=${{ width: `${100 * zoom}%` }}>
          ${devices.map(
            (device) => html`
            <${Track} key=${device} id=${id} device=${device} duration=${whole} zoom=${zoom} selected=${selected}
              onSelect=${setPointed} onUse=${onUse} events=${events.filter((event) => event.device === device)} />
          `,
          )}
          <span class="track-name" aria-hidden="true"></span>
          <div class="track-axis" aria-hidden="true">
            ${ticks(whole, 6 * zoom).map(
              (time) => html`
              <span key=${time} style=${{ left: `${(100 * time) / whole}%` }}>${Number(time.toPrecision(4))}${time === 0 ? " ms" : ""}</span>
            `,
            )}
          </div>
        </div>
      </div>
      <p class="track-about" role="status" data-testid=${`${id}-looked`}>
        ${selected ? describe(selected) : hint}
      </p>
      <ul class="track-legend" aria-label=${words.legend}>
        ${WORK_KINDS.filter((kind) => present.has(kind)).map(
          (kind) => html`
          <li key=${kind}><span class="track-swatch" data-kind=${kind}></span>${kind === "delay" ? words.pale(kinds[kind]) : kinds[kind]}</li>
        `,
        )}
        <li><span class="track-swatch" data-kind="idle"></span>${words.idle}</li>
      </ul>
    </div>
  `;
}
