import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { SavePicture } from "../../components/save-picture-button.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { ShrinkCurve } from "./shrink-curve.js";
import { ShrinkReport } from "./shrink-report.js";
import { ShrinkTable } from "./shrink-table.js";
import * as shrink from "./shrink.js";

/** Makes the trained network smaller in many ways, and shows what each saves and costs. */
export function ShrinkPanel() {
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const detail = useRef(/** @type {HTMLElement | null} */ (null));
  const { data, points, versions, isWorking, problem, chosen } = shrink;
  const words = t().shrink;
  const count = points.value.length;
  const name = chosen.value;
  const report = shrink.report.value;
  const shown = useRef(report);
  useEffect(() => {
    if (report && report !== shown.current) detail.current?.scrollIntoView({ block: "nearest" });
  }, [report]);
  return html`
    <section class="panel shrink" aria-labelledby="shrink-title" data-testid="shrink" ref=${panel}>
      <div class="panel-head">
        <h2 id="shrink-title">${words.title}</h2>
        ${
          count > 1 &&
          html`<${SavePicture} of=${() => panel.current?.querySelector(".shrink-figure")} name="size-and-accuracy" what=${words.thePicture} id="shrink" />`
        }
        <${Command} />
      </div>
      ${
        data.value
          ? html`
        <p class="hint shrink-about">${words.comparedOn(data.value.tested, samples(), data.value.total)}</p>
        <${ShrinkCurve} points=${points.value} chosen=${name} onChoose=${shrink.choose} />
        <${ShrinkTable} versions=${versions.value} points=${points.value} failures=${shrink.failures.value}
          current=${shrink.current.value} chosen=${name} onChoose=${shrink.choose} />
        <p class="hint shrink-about">${words.tap}</p>`
          : html`<p class="shrink-intro">${before()}</p>`
      }
      <p class="visually-hidden" role="status" data-testid="shrink-status">${
        isWorking.value
          ? words.progress(count, versions.value.length)
          : data.value
            ? words.ready(count)
            : ""
      }</p>
      <p class="shrink-problem" role="alert">${problem.value}</p>
    </section>
    <div ref=${detail}>${
      name &&
      name !== shrink.ORIGINAL &&
      html`<${ShrinkReport} point=${points.value.find((each) => each.name === name)}
      original=${points.value.find((each) => each.name === shrink.ORIGINAL)} report=${report} />`
    }</div>
  `;
}

/** How many samples decide. */
const samples = () => shrink.points.value[0]?.samples ?? null;

/** What there is to know before the first version. */
function before() {
  const words = t().shrink;
  if (store.active.value) return words.whileTraining;
  if (store.liveModel.value) return words.about;
  return store.hasModel.value ? words.restored : words.untrained;
}

/** The button that begins, goes on, or stops. */
function Command() {
  const { data, points, versions, failures, isWorking } = shrink;
  const words = t().shrink;
  const done = points.value.length + Object.keys(failures.value).length;
  if (isWorking.value)
    return html`
      <span class="hint shrink-progress" aria-hidden="true">${words.progress(done, versions.value.length)}</span>
      <button key="stop" type="button" class="button small" data-testid="shrink-stop" onClick=${shrink.stop}>${words.stop}</button>`;
  const isOff = !store.liveModel.value || store.active.value;
  if (data.value && done < versions.value.length)
    return html`<button key="resume" type="button" class="button small" data-testid="shrink-resume" disabled=${isOff}
      onClick=${shrink.resume}>${words.resume(format.count(versions.value.length - done))}</button>`;
  return html`<button key="begin" type="button" class=${data.value ? "button small" : "button small primary"} data-testid="shrink-begin"
    disabled=${isOff} onClick=${shrink.begin}>${data.value ? words.again : words.begin}</button>`;
}
