import { html, useState } from "../../vendor/preact.js";
import * as format from "../format.js";
import { ticks } from "../lab.js";
import { DeviceTimes } from "./device-times.js";
import { Lane } from "./lane.js";

/** @typedef {import("../types.js").LabRun} LabRun */
/** @typedef {import("../types.js").Trace} Trace */
/** @typedef {import("../types.js").TraceEvent} TraceEvent */

/** Kinds of work and what they are called, in the order of a step. */
export const KINDS = [
  ["input", "input"], ["forward", "forward"], ["gradient", "gradient"], ["update", "update"],
  ["receive", "receive"], ["send", "send"], ["delay", "held up (pale)"],
];

/** One measured step: what each device did when. @param {{run: LabRun | null}} props */
export function LabTimeline({ run }) {
  const trace = run?.trace ?? null;
  return html`
    <section class="panel lab-timeline" aria-labelledby="lab-timeline-title">
      <div class="panel-head">
        <h2 id="lab-timeline-title">${(trace?.steps ?? 1) === 1 ? "One step" : `${trace?.steps} steps`}, measured</h2>
        ${run && html`<span class="hint" data-testid="lab-timeline-run">${run.title}</span>`}
      </div>
      ${run && trace
        ? html`<${Measures} run=${run} trace=${trace} /><${Lanes} key=${run.id} trace=${trace} />
            <${DeviceTimes} trace=${trace} updates=${run.report.updates} />
            ${Object.entries(run.report.lost ?? {}).map(([device, why]) => html`
              <p key=${device} class="hint lab-lost" data-failed>${device} was lost, and the others went on: ${why}</p>`)}`
        : html`<p class="lab-wait">${unmeasured(run)}</p>`}
    </section>
  `;
}

/** Why there is no step to look at. @param {LabRun | null} run */
function unmeasured(run) {
  if (!run) return "Run a strategy to see what each device does when: computing, moving tensors, waiting.";
  if (run.state === "running") return "A step is measured soon after the first.";
  return "This run was over before a step was measured. Have it make a few steps more.";
}

/** @param {{run: LabRun, trace: Trace}} props */
function Measures({ run, trace }) {
  const { bubble, communication, bytes_moved, seconds } = trace.timeline;
  const formula = trace.bubble_formula;
  const memory = Object.values(trace.memory).reduce((sum, bytes) => sum + bytes, 0);
  const several = run.devices > 1;
  const perSecond = run.msPerStep ? 1000 / run.msPerStep : null;
  /** @type {[string, string, string, string][]} test id, name, value, remark */
  const measures = [
    ["bubble", several ? "Waiting (bubble)" : "Waiting", format.percent(bubble, 0),
      formula === null ? "" : `formula ${format.percent(formula, 0)}`],
    ["communication", "Moving tensors", format.percent(communication, 0), "of the time"],
    ["bytes", "Moved a step", format.bytes(bytes_moved / trace.steps), trace.steps > 1 ? "on average" : ""],
    ["memory", "Memory", format.bytes(memory), several ? "on all devices" : ""],
    ["speed", "Steps per second", format.rate(perSecond), ""],
    ["step", "Time traced", `${format.milliseconds(1000 * seconds)} ms`, ""],
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

/** The picture: a lane for each device, over one axis of time. @param {{trace: Trace}} props */
function Lanes({ trace }) {
  const [looked, setLooked] = useState(/** @type {TraceEvent | null} */ (null));
  const whole = Math.max(1000 * trace.timeline.seconds, 1e-6);
  const marks = ticks(whole, 6);
  const present = new Set(trace.events.map(({ kind }) => kind));
  return html`
    <div class="lanes" data-testid="lab-lanes">
      ${trace.timeline.devices.map(({ device }) => html`
        <${Lane} key=${device} device=${device} whole=${whole} looked=${looked} onLook=${setLooked}
          events=${trace.events.filter((event) => event.device === device)} />
      `)}
      <div class="lane-axis" aria-hidden="true">
        ${marks.map((time) => html`
          <span key=${time} style=${{ left: `${(100 * time) / whole}%` }}>${Number(time.toPrecision(3))}${time === 0 ? " ms" : ""}</span>
        `)}
      </div>
      <p class="lane-about" role="status" data-testid="lab-looked">
        ${looked ? describe(looked) : "Point at a piece of work, or walk a lane with the arrow keys."}
      </p>
      <ul class="lane-legend" aria-label="Colours">
        ${KINDS.filter(([kind]) => present.has(kind)).map(([kind, name]) => html`
          <li key=${kind}><span class="lane-swatch" data-kind=${kind}></span>${name}</li>
        `)}
        <li><span class="lane-swatch" data-kind="idle"></span>waiting</li>
      </ul>
    </div>
  `;
}

/** @param {TraceEvent} event */
function describe({ name, device, kind, start, end, bytes }) {
  const size = bytes > 0 ? `, ${format.bytes(bytes)}` : "";
  return `${device}: ${kind}, ${format.milliseconds(end - start)} ms${size}, from ${format.milliseconds(start)} ms (${name})`;
}
