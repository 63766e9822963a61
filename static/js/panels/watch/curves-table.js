import { html } from "../../../vendor/preact.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { settingName, short } from "../../state/setting-changes.js";
import * as store from "../../state/store.js";
import { useCurvesVersion } from "../../training/use-training.js";

const MOST_ROWS = 24;
const MOST_EPOCHS = 1000;

/** The curves as tables: by epoch, and a sample of the steps. */
export function CurvesTable() {
  useCurvesVersion();
  const { steps, series } = store.curves;
  const words = t().curves.table;
  const epochs = store.epochs.value;
  const each = Math.max(1, Math.ceil(epochs.length / MOST_EPOCHS));
  const every = Math.max(1, Math.ceil(steps.length / MOST_ROWS));
  const ratings = store.curves.ratings.slice(-MOST_EPOCHS);
  const rows = steps
    .map((step, index) => ({ step, index }))
    .filter(({ index }) => (steps.length - 1 - index) % every === 0);
  return html`
    <div class="tables" tabindex="0" role="region" aria-label=${words.label}>
      <table>
        <caption>${each > 1 ? words.sampleByEpoch : words.byEpoch}</caption>
        <thead><tr><th scope="col">${words.epoch}</th><th scope="col">${words.loss}</th><th scope="col">${words.accuracy}</th>
          <th scope="col">${words.testLoss}</th><th scope="col">${words.testAccuracy}</th></tr></thead>
        <tbody>
          ${epochs.map(
            (row, at) =>
              (epochs.length - 1 - at) % each === 0 &&
              html`
            <tr key=${row.epoch}><th scope="row">${row.epoch}</th>
              <td>${format.loss(row.loss)}</td><td>${format.percent(row.accuracy)}</td>
              <td>${format.loss(row.testLoss)}</td><td>${format.percent(row.testAccuracy)}</td></tr>
          `,
          )}
        </tbody>
      </table>
      <table>
        <caption>${every > 1 ? words.sampleByStep : words.byStep}</caption>
        <thead><tr><th scope="col">${words.step}</th><th scope="col">${words.loss}</th><th scope="col">${words.trend}</th>
          <th scope="col">${words.accuracy}</th></tr></thead>
        <tbody>
          ${rows.map(
            ({ step, index }) => html`
            <tr key=${step}><th scope="row">${step}</th>
              <td>${format.loss(series.loss[index])}</td>
              <td>${format.loss(series.trendLoss[index])}</td>
              <td>${format.percent(series.accuracy[index], 1)}</td></tr>
          `,
          )}
        </tbody>
      </table>
      ${
        ratings.length > 0 &&
        html`
        <table data-testid="elo-table">
          <caption>${t().curves.elo}</caption>
          <thead><tr><th scope="col">${words.step}</th><th scope="col">${t().curves.lines.elo}</th></tr></thead>
          <tbody>
            ${ratings.map(([step, elo]) => html`<tr key=${step}><th scope="row">${step}</th><td>${format.elo(elo)}</td></tr>`)}
          </tbody>
        </table>
      `
      }
      ${
        store.settingChanges.value.length > 0 &&
        html`
        <table data-testid="setting-table">
          <caption>${words.changes}</caption>
          <thead><tr><th scope="col">${words.afterStep}</th><th scope="col">${words.setting}</th><th scope="col">${words.before}</th>
            <th scope="col">${words.after}</th></tr></thead>
          <tbody>
            ${store.settingChanges.value.map(
              ({ step, name, before, after }, at) => html`
              <tr key=${at}><th scope="row">${step}</th><td>${settingName(name)}</td><td>${short(before)}</td><td>${short(after)}</td></tr>
            `,
            )}
          </tbody>
        </table>
      `
      }
    </div>
  `;
}
