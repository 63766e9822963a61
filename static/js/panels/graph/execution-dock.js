import { html, useEffect } from "../../../vendor/preact.js";
import { lazy } from "../../components/lazy.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { apart, graphChanged, measure, measured, measuring, problem } from "./execution.js";
import { asking, look, problem as lookProblem, shown, takeSteps } from "./step-operations.js";

const Timeline = lazy(
  async () => (await import("./execution-timeline.js")).ExecutionTimeline,
  () => ({ name: t().execution.title, waiting: t().execution.measuring }),
);

const View = lazy(
  async () => (await import("./execution-view.js")).ExecutionView,
  () => ({ name: t().operations.title, waiting: t().operations.asking }),
);

/** Below the graph: measures a step, and shows when each of its operations ran, or runs it operation by operation. */
export function ExecutionDock() {
  const words = t().execution;
  useEffect(graphChanged, [store.graph.value]);
  useEffect(takeSteps, [
    store.operationSteps.value,
    store.liveModel.value,
    store.graph.value,
    asking.value,
  ]);
  if (!store.graph.value) return null;
  // Of a program that trains no model, a run of its sessions is repeated once it has ended.
  const canLook =
    store.hasModel.value || (store.graph.value.name === "session" && !store.active.value);
  return html`
    <div class="execution" data-testid="execution">
      <div class="execution-head">
        <h3>${words.title}</h3>
        <button type="button" class="button quiet small" data-testid="measure-step" disabled=${!canLook || measuring.value}
          title=${words.about} onClick=${measure}>${measuring.value ? words.measuring : measured.value ? words.again : words.measure}</button>
        <button type="button" class="button quiet small" data-testid="look-at-operations" disabled=${!canLook || asking.value}
          title=${t().operations.about} onClick=${look}>${asking.value ? t().operations.asking : t().operations.title}</button>
        <label class="toggle" title=${words.apartAbout}>
          <input type="checkbox" data-testid="timeline-apart" checked=${apart.value}
            onChange=${(/** @type {any} */ event) => (apart.value = event.target.checked)} />${words.apart}</label>
      </div>
      ${problem.value && html`<p class="hint" role="alert" data-testid="execution-problem">${words.failed(problem.value)}</p>`}
      ${lookProblem.value && html`<p class="hint" role="alert" data-testid="operations-problem">${t().operations.failed(lookProblem.value)}</p>`}
      ${shown.value && html`<${View} />`}
      ${measured.value && html`<${Timeline} />`}
    </div>
  `;
}
