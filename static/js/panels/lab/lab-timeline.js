import { html } from "../../../vendor/preact.js";
import { Tracks } from "../../components/tracks.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { DeviceTimes } from "./device-times.js";

/** @typedef {import("../../state/types.js").LabRun} LabRun */
/** @typedef {import("../../../engine/messages.js").Trace} Trace */
/** @typedef {import("../../../engine/messages.js").TraceEvent} TraceEvent */

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
      ${
        run && trace
          ? html`<${Measures} run=${run} trace=${trace} /><${LabTracks} key=${run.id} trace=${trace} />
            <${DeviceTimes} trace=${trace} updates=${run.report.updates} />
            ${Object.entries(run.report.lost ?? {}).map(
              ([device, why]) => html`
              <p key=${device} class="hint lab-lost" data-failed>${words.lost(device, why)}</p>`,
            )}`
          : html`<p class="lab-wait">${unmeasured(run)}</p>`
      }
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
    [
      "bubble",
      isParallel ? words.bubble : words.waiting,
      format.percent(bubble, 0),
      formula === null ? "" : words.formula(format.percent(formula, 0)),
    ],
    ["communication", words.communication, format.percent(communication, 0), words.ofTime],
    [
      "bytes",
      words.moved,
      format.bytes(bytes_moved / trace.steps),
      trace.steps > 1 ? words.onAverage : "",
    ],
    ["memory", words.memory, format.bytes(memory), isParallel ? words.onAll : ""],
    ["speed", words.speed, format.rate(perSecond), ""],
    ["step", words.traced, `${format.milliseconds(1000 * seconds)} ms`, ""],
  ];
  const staleness = run.report.mean_staleness;
  if (staleness !== undefined) {
    measures.push([
      "mean-staleness",
      words.staleness,
      staleness.toFixed(2),
      words.updatesOnAverage,
    ]);
  }
  return html`
    <dl class="lab-measures">
      ${measures.map(
        ([id, name, value, remark]) => html`
        <div key=${id}>
          <dt>${name}</dt>
          <dd data-testid=${`lab-${id}`}>${value}</dd>
          ${remark && html`<dd class="remark" data-testid=${`lab-${id}-remark`}>${remark}</dd>`}
        </div>
      `,
      )}
    </dl>
  `;
}

/** A track for each device, over a common time axis. @param {{trace: Trace}} props */
function LabTracks({ trace }) {
  const { timeline: words } = t().lab;
  return html`<${Tracks} id="lab" devices=${trace.timeline.devices.map(({ device }) => device)} events=${trace.events}
    duration=${1000 * trace.timeline.seconds} describe=${describe} hint=${words.hint} />`;
}

/** @param {TraceEvent} event */
function describe({ name, device, kind, start, end, bytes }) {
  const { timeline: words, kinds } = t().lab;
  return words.task({
    device,
    name,
    kind: /** @type {Record<string, string>} */ (kinds)[kind] ?? kind,
    took: format.milliseconds(end - start),
    size: bytes > 0 ? format.bytes(bytes) : "",
    start: format.milliseconds(start),
  });
}
