import { html } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { isWorking, leave, save, stopTuning, tune, tuning } from "./shrink.js";
import { aboutOf, formOf, nameOf, valueOf } from "./versions.js";

/** @import { ShrunkLayer, ShrunkPoint, ShrunkReport } from "../../../engine/messages.js" */

/** The layers that are named as the worst ones. */
const WORST = 3;

/**
 * What one version costs and has lost, and what can be done with it.
 * @param {{point: ShrunkPoint | undefined, original: ShrunkPoint | undefined, report: ShrunkReport | null}} props
 */
export function ShrinkReport({ point, original, report }) {
  if (!point || !original) return null;
  const words = t().shrink;
  const name = nameOf(point.name);
  return html`
    <section class="panel shrink-report" aria-labelledby="shrink-report-title" data-testid="shrink-report">
      <div class="panel-head">
        <h2 id="shrink-report-title">${words.reportTitle(name)}</h2>
        <button type="button" class="button quiet small" data-testid="shrink-leave" onClick=${leave}>${words.back}</button>
      </div>
      <p class="shrink-intro">${aboutOf(point.name)}${
        point.untuned !== null &&
        html` <strong data-testid="shrink-tuned" role="status">${words.tuned(point.epochs, valueOf({ ...point, value: point.untuned }), valueOf(point))}</strong>`
      }</p>
      <div class="shrink-actions">
        <button type="button" class="button small primary" data-testid="shrink-try" onClick=${() => (store.view.value = "training")}>${words.tryIt}</button>
        ${point.tunable && html`<${Tuning} point=${point} />`}
        ${(report?.formats ?? []).map(
          (
            each,
          ) => html`<button key=${each} type="button" class="button small" data-testid=${`shrink-export-${each}`}
            title=${words.formats[each].about} onClick=${() => save(point.name, each)}><${Icon} name="save" />${words.formats[each].title}</button>`,
        )}
      </div>
      ${report ? html`<${Totals} ...${{ point, original, report }} /><${Layers} layers=${report.layers} />` : html`<p class="shrink-intro" role="status">${words.reporting}</p>`}
    </section>
  `;
}

/** Trains a version further, and says what that gave. @param {{point: ShrunkPoint}} props */
function Tuning({ point }) {
  const words = t().shrink;
  const now = tuning.value;
  if (now)
    return html`<button key="stop" type="button" class="button small" data-testid="shrink-tune-stop" onClick=${stopTuning}>${words.stopTuning(format.percent(now.share, 0))}</button>`;
  return html`<button key="tune" type="button" class="button small" data-testid="shrink-tune" disabled=${isWorking.value} title=${words.tuneAbout}
    onClick=${() => tune(point.name)}>${words.tune}</button>`;
}

/** @param {{point: ShrunkPoint, original: ShrunkPoint, report: ShrunkReport}} props */
function Totals({ point, original, report }) {
  const words = t().shrink;
  const { before, after } = report;
  const rows = [
    [words.totals.gzip, format.bytes(before.gzip), format.bytes(after.gzip)],
    [words.totals.raw, format.bytes(before.raw), format.bytes(after.raw)],
    [
      words.totals.multiplyAdds,
      format.count(before.multiply_adds),
      format.count(after.multiply_adds),
    ],
    [
      point.metric === "loss" ? words.columns.loss : words.columns.accuracy,
      valueOf(original),
      valueOf(point),
    ],
    [
      words.totals.latency(report.device),
      format.kernelTime(before.seconds),
      format.kernelTime(after.seconds),
    ],
  ];
  return html`<div class="tables shrink-totals"><table data-testid="shrink-totals">
    <thead><tr><td></td><th scope="col">${words.before}</th><th scope="col">${words.after}</th></tr></thead>
    <tbody>${rows.map(([title, old, now]) => html`<tr key=${title}><th scope="row">${title}</th><td>${old}</td><td>${now}</td></tr>`)}</tbody>
  </table></div>`;
}

/** @param {{layers: ShrunkLayer[]}} props */
function Layers({ layers }) {
  const words = t().shrink;
  const { layerColumns: columns } = words;
  const shown = layers.filter(
    ({ before, after, reason }) => before.raw > 0 || after.raw > 0 || reason,
  );
  const measured = shown.filter(({ signal_to_noise: ratio }) => ratio !== null);
  measured.sort((one, other) => Number(one.signal_to_noise) - Number(other.signal_to_noise));
  const worst = measured.length > 1 ? measured.slice(0, Math.min(WORST, measured.length - 1)) : [];
  return html`
    <h3 class="shrink-subtitle">${words.layers}</h3>
    <div class="tables shrink-layers" tabindex="0" role="region" aria-label=${words.layers}>
      <table data-testid="shrink-layers">
        <thead><tr><th scope="col">${columns.layer}</th><th scope="col">${columns.form}</th><th scope="col">${columns.raw}</th><th scope="col">${columns.gzip}</th>
          <th scope="col">${columns.multiplyAdds}</th><th scope="col"><abbr title=${words.ratioAbout}>${columns.ratio}</abbr></th></tr></thead>
        <tbody>${shown.map(
          (
            layer,
          ) => html`<tr key=${layer.name} data-worst=${worst.includes(layer) ? "" : undefined}>
            <th scope="row">${layer.name}</th><td>${formOf(layer.form)}</td>
            <td>${format.bytes(layer.before.raw)} → ${format.bytes(layer.after.raw)}</td><td>${format.bytes(layer.before.gzip)} → ${format.bytes(layer.after.gzip)}</td>
            <td>${format.count(layer.multiply_adds)}</td><td>${ratioOf(layer)}</td></tr>`,
        )}</tbody>
      </table>
    </div>
    ${worst.length > 0 && html`<p class="hint shrink-about">${words.worst(t().numbers.list(worst.map(({ name }) => name)))}</p>`}
    ${shown.filter(({ reason }) => reason).map((layer) => html`<p class="hint shrink-about" key=${layer.name}>${words.reason(layer.name, formOf(layer.form), layer.reason)}</p>`)}
  `;
}

/** @param {ShrunkLayer} layer */
function ratioOf({ signal_to_noise: ratio, exact }) {
  if (exact) return t().shrink.exact;
  return ratio === null ? format.NONE : `${ratio.toFixed(1)} dB`;
}
