import { html, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { WORK_KINDS, ticks } from "../lab.js";
import { DeviceTimes } from "./device-times.js";
import { Track } from "./track.js";

/** @typedef {import("../types.js").LabRun} LabRun */
/** @typedef {import("../../engine/messages.js").Trace} Trace */
/** @typedef {import("../../engine/messages.js").TraceEvent} TraceEvent */

/** The timeline of a measured step, with its numbers. @param {{run: LabRun | null}} props */
export function LabTimeline({ run }) {
  const trace = run?.trace ?? null;
  return html`
    <section class="panel lab-timeline" aria-labelledby="lab-timeline-title">
      <div class="panel-head">
        <h2 id="lab-timeline-title">Timeline of ${(trace?.steps ?? 1) === 1 ? "one step" : `${trace?.steps} steps`}</h2>
        ${run && html`<span class="hint" data-testid="lab-timeline-run">${run.title}</span>`}
      </div>
      ${run && trace
        ? html`<${Measures} run=${run} trace=${trace} /><${Tracks} key=${run.id} trace=${trace} />
            <${DeviceTimes} trace=${trace} updates=${run.report.updates} />
            ${Object.entries(run.report.lost ?? {}).map(([device, why]) => html`
              <p key=${device} class="hint lab-lost" data-failed>${device} was lost; the others continued. Reason: ${why}</p>`)}`
        : html`<p class="lab-wait">${unmeasured(run)}</p>`}
    </section>
  `;
}

/** The reason that there is no timeline. @param {LabRun | null} run */
function unmeasured(run) {
  if (!run) return "Run a strategy to see when each device computes, moves tensors and waits.";
  if (run.state === "running") return "A step is measured shortly after training starts.";
  return "This run ended before a step was measured. Train a few more steps.";
}

/** @param {{run: LabRun, trace: Trace}} props */
function Measures({ run, trace }) {
  const { bubble, communication, bytes_moved, seconds } = trace.timeline;
  const formula = trace.bubble_formula;
  const memory = Object.values(trace.memory).reduce((sum, bytes) => sum + bytes, 0);
  const isParallel = run.devices > 1;
  const perSecond = run.msPerStep ? 1000 / run.msPerStep : null;
  /** @type {[string, string, string, string][]} test id, name, value, remark */
  const measures = [
    ["bubble", isParallel ? "Waiting (bubble)" : "Waiting", format.percent(bubble, 0),
      formula === null ? "" : `formula ${format.percent(formula, 0)}`],
    ["communication", "Moving tensors", format.percent(communication, 0), "of the time"],
    ["bytes", "Moved per step", format.bytes(bytes_moved / trace.steps), trace.steps > 1 ? "on average" : ""],
    ["memory", "Memory", format.bytes(memory), isParallel ? "on all devices" : ""],
    ["speed", "Steps per second", format.rate(perSecond), ""],
    ["step", "Traced time", `${format.milliseconds(1000 * seconds)} ms`, ""],
  ];
  const staleness = run.report.mean_staleness;
  if (staleness !== undefined) {
    measures.push(["mean-staleness", "Staleness", staleness.toFixed(2), "updates, on average"]);
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
        ${selected ? describe(selected) : "Point at a task, or move along a track with the arrow keys."}
      </p>
      <ul class="track-legend" aria-label="Colours">
        ${WORK_KINDS.filter((kind) => present.has(kind)).map((kind) => html`
          <li key=${kind}><span class="track-swatch" data-kind=${kind}></span>${kind === "delay" ? "delay (pale)" : kind}</li>
        `)}
        <li><span class="track-swatch" data-kind="idle"></span>waiting</li>
      </ul>
    </div>
  `;
}

/** @param {TraceEvent} event */
function describe({ name, device, kind, start, end, bytes }) {
  const size = bytes > 0 ? `, ${format.bytes(bytes)}` : "";
  return `${device}: ${kind}, ${format.milliseconds(end - start)} ms${size}, from ${format.milliseconds(start)} ms (${name})`;
}
