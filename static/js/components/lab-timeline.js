import { html, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { WORK_KINDS, ticks } from "../lab.js";
import { t } from "../locale.js";
import { DeviceTimes } from "./device-times.js";
import { Track } from "./track.js";

/** @typedef {import("../types.js").LabRun} LabRun */
/** @typedef {import("../../engine/messages.js").Trace} Trace */
/** @typedef {import("../../engine/messages.js").TraceEvent} TraceEvent */

/** The timeline of a measured step, with its numbers. @param {{run: LabRun | null}} props */
export function LabTimeline({ run }) {
  const trace = run?.trace ?? null;
  const { timeline: words, titled } = t().lab;
  return html`
    <section class="panel lab-timeline" aria-labelledby="lab-timeline-title">
      <div class="panel-head">
        <h2 id="lab-timeline-title">${words.title(trace?.steps ?? 1)}</h2>
        ${run && html`<span class="hint" data-testid="lab-timeline-run">${titled(run.title)}</span>`}
      </div>
      ${run && trace
        ? html`<${Measures} run=${run} trace=${trace} /><${Tracks} key=${run.id} trace=${trace} />
            <${DeviceTimes} trace=${trace} updates=${run.report.updates} />
            ${Object.entries(run.report.lost ?? {}).map(([device, why]) => html`
              <p key=${device} class="hint lab-lost" data-failed>${words.lost(device, why)}</p>`)}`
        : html`<p class="lab-wait">${unmeasured(run)}</p>`}
    </section>
  `;
}

/** The reason that there is no timeline. @param {LabRun | null} run */
function unmeasured(run) {
  const words = t().lab.timeline;
  if (!run) return words.noRun;
  return run.state === "running" ? words.soon : words.ended;
}

/** @param {{run: LabRun, trace: Trace}} props */
function Measures({ run, trace }) {
  const words = t().lab.timeline;
  const { bubble, communication, bytes_moved, seconds } = trace.timeline;
  const formula = trace.bubble_formula;
  const memory = Object.values(trace.memory).reduce((sum, bytes) => sum + bytes, 0);
  const isParallel = run.devices > 1;
  const perSecond = run.msPerStep ? 1000 / run.msPerStep : null;
  /** @type {[string, string, string, string][]} test id, name, value, remark */
  const measures = [
    ["bubble", isParallel ? words.bubble : words.waiting, format.percent(bubble, 0),
      formula === null ? "" : words.formula(format.percent(formula, 0))],
    ["communication", words.communication, format.percent(communication, 0), words.ofTime],
    ["bytes", words.moved, format.bytes(bytes_moved / trace.steps), trace.steps > 1 ? words.onAverage : ""],
    ["memory", words.memory, format.bytes(memory), isParallel ? words.onAll : ""],
    ["speed", words.speed, format.rate(perSecond), ""],
    ["step", words.traced, `${format.milliseconds(1000 * seconds)} ms`, ""],
  ];
  const staleness = run.report.mean_staleness;
  if (staleness !== undefined) {
    measures.push(["mean-staleness", words.staleness, staleness.toFixed(2), words.updatesOnAverage]);
  }
  return html`
    <dl class="lab-measures">
      ${measures.map(([id, name, value, remark]) => html`
        <div key=${id}>
          <dt>${name}</dt>
          <dd data-testid=${`lab-${id}`}>${value}</dd>
          ${remark && html`<dd class="remark" data-testid=${`lab-${id}-remark`}>${remark}</dd>`}
        </div>
      `)}
    </dl>
  `;
}

/** A track for each device, over a common time axis. @param {{trace: Trace}} props */
function Tracks({ trace }) {
  const [selected, setSelected] = useState(/** @type {TraceEvent | null} */ (null));
  const { timeline: words, kinds } = t().lab;
  const duration = Math.max(1000 * trace.timeline.seconds, 1e-6);
  const marks = ticks(duration, 6);
  const present = new Set(trace.events.map(({ kind }) => kind));
  return html`
    <div class="tracks" data-testid="lab-lanes">
      ${trace.timeline.devices.map(({ device }) => html`
        <${Track} key=${device} device=${device} duration=${duration} selected=${selected} onSelect=${setSelected}
          events=${trace.events.filter((event) => event.device === device)} />
      `)}
      <div class="track-axis" aria-hidden="true">
        ${marks.map((time) => html`
          <span key=${time} style=${{ left: `${(100 * time) / duration}%` }}>${Number(time.toPrecision(3))}${time === 0 ? " ms" : ""}</span>
        `)}
      </div>
      <p class="track-about" role="status" data-testid="lab-looked">
        ${selected ? describe(selected) : words.hint}
      </p>
      <ul class="track-legend" aria-label=${words.legend}>
        ${WORK_KINDS.filter((kind) => present.has(kind)).map((kind) => html`
          <li key=${kind}><span class="track-swatch" data-kind=${kind}></span>${kind === "delay" ? words.pale(kinds[kind]) : kinds[kind]}</li>
        `)}
        <li><span class="track-swatch" data-kind="idle"></span>${words.idle}</li>
      </ul>
    </div>
  `;
}

/** @param {TraceEvent} event */
function describe({ name, device, kind, start, end, bytes }) {
  const { timeline: words, kinds } = t().lab;
  return words.task({
    device, name, kind: /** @type {Record<string, string>} */ (kinds)[kind] ?? kind, took: format.milliseconds(end - start),
    size: bytes > 0 ? format.bytes(bytes) : "", start: format.milliseconds(start),
  });
}
