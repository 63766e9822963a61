import { html, useState } from "../../../vendor/preact.js";
import { kindOf } from "../../../engine/kinds.js";
import { treesView } from "../../engine/questions.js";
import * as store from "../../state/store.js";
import { sampleNumber } from "../../training/inspected-layer.js";
import { count } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { SampleSteps } from "./sample-steps.js";
import { colourOf, ROW, TreeBoard } from "./tree-board.js";
import { useView } from "./use-view.js";

/** @import { JoinedTrees } from "../../../engine/messages.js" */

/** Which calls of a Fold were joined, depth by depth, and the tree of one sample. */
export function TreesPanel() {
  const [fold, setFold] = useState("");
  const sample = sampleNumber.value;
  const { answer, problem } = useView(
    () => treesView(fold, sample),
    [fold, sample],
    store.hasNamespace,
  );
  const words = t().inspectTrees;
  return html`
    <div class="inspect-body">
      ${problem && html`<p class="hint" data-failed role="status">${problem}</p>`}
      ${!answer && !problem && html`<p class="hint">${t().inspect.asking}</p>`}
      ${answer?.shows === "none" && html`<p class="hint" data-testid="trees-none">${words.none[answer.reason]}</p>`}
      ${
        answer?.shows === "trees" &&
        html`
        <div class="attention-controls">
          ${
            answer.folds.length > 1 &&
            html`<label class="toggle">${words.fold} <select data-testid="trees-fold" value=${answer.fold}
            onChange=${(/** @type {Event} */ event) => setFold(/** @type {HTMLSelectElement} */ (event.target).value)}>
            ${answer.folds.map((name) => html`<option key=${name} value=${name} selected=${name === answer.fold}>${name}</option>`)}
          </select></label>`
          }
          <span data-testid="trees-sample" role="status">${words.sample(answer.sample, answer.samples)}</span>
          <span class="inspect-steps"><${SampleSteps} count=${answer.samples} /></span>
        </div>
        <${Joined} view=${answer} />`
      }
    </div>
  `;
}

/** The tree of a sample, and how many calls were joined in each row. @param {{view: JoinedTrees}} props */
function Joined({ view }) {
  const [depth, setDepth] = useState(/** @type {number | null} */ (null));
  const words = t().inspectTrees;
  const { kinds, joins, depths, steps, calls, size } = view;
  const total = kinds.reduce((sum, kind) => sum + kind.calls, 0);
  const most = Math.max(...joins.map((each) => each.calls));
  const rows = Array.from({ length: depths }, (_, at) => at);
  const device = store.fit.value?.device ?? store.deviceChoice.value;
  return html`
    <p data-testid="trees-summary">${words.summary(total, view.samples, steps)}</p>
    ${kindOf(device)?.runsPlans && html`<p data-testid="trees-device">${words.onProcessor}</p>`}
    <p class="hint">${words.about}
      ${calls.length < size && ` ${words.tooLarge(calls.length, size)}`}${joins.length < steps && ` ${words.someSteps(joins.length, steps)}`}</p>
    <ul class="tree-kinds">${kinds.map(
      (kind, at) =>
        html`<li key=${at} style=${{ "--kind": colourOf(at) }}>${words.joined(kind.title, kind.calls)}</li>`,
    )}</ul>
    <div class="trees" onPointerLeave=${() => setDepth(null)}>
      <${TreeBoard} view=${view} depth=${depth} onDepth=${setDepth} />
      <ol class="tree-rows" style=${{ "--row": `${ROW}px` }} aria-label=${words.bars}>${rows.map(
        (
          row,
        ) => html`<li key=${row} data-testid="tree-depth" data-depth=${row} data-read=${row === depth ? "" : undefined}
          onPointerEnter=${() => setDepth(row)}>
          <span class="tree-depth">${words.depth(row)}</span>
          ${joins
            .filter((each) => each.depth === row)
            .map(
              (
                each,
                at,
              ) => html`<span key=${at} class="tree-bar" style=${{ "--kind": colourOf(each.kind), "--share": each.calls / most }}
              title=${words.joined(kinds[each.kind].title, each.calls)}>
              <span class="visually-hidden">${kinds[each.kind].title}</span> ${count(each.calls)}</span>`,
            )}
        </li>`,
      )}</ol>
    </div>
    <${Table} view=${view} />
  `;
}

/** The joined calls as numbers. @param {{view: JoinedTrees}} props */
function Table({ view: { joins, kinds } }) {
  const words = t().inspectTrees;
  return html`
    <details class="projection-table" data-testid="trees-details">
      <summary>${words.table}</summary>
      <div class="sample-scroll" tabindex="0" role="region" aria-label=${words.table}><table class="sample-table" data-testid="trees-table">
        <thead><tr>${words.columns.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
        <tbody>${joins.map(
          (each, at) =>
            html`<tr key=${at}><td>${each.depth}</td><td>${kinds[each.kind].title}</td><td>${each.calls}</td></tr>`,
        )}</tbody>
      </table></div>
    </details>
  `;
}
