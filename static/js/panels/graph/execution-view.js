import { html } from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import { CompilerPasses } from "./compiler-passes.js";
import { OperationLink } from "./operation-link.js";
import {
  at,
  go,
  lastOfDevices,
  leave,
  look,
  queueAfter,
  shown,
  waitingCounts,
} from "./step-operations.js";

/** @import { Operation, TensorSight } from "../../../engine/messages.js" */

/** The most entries that are listed of the queue, and of the waiting operations. */
const MOST = 12;
const STATISTICS = /** @type {const} */ (["min", "max", "mean", "std"]);
const KEYS = /** @type {Record<string, (place: number, last: number) => number>} */ ({
  ArrowLeft: (place) => place - 1,
  ArrowRight: (place) => place + 1,
  Home: () => 0,
  End: (_, last) => last,
});

/** A training step, operation by operation: the ready queue, the devices, and the last operation. */
export function ExecutionView() {
  const step = shown.value;
  if (!step) return null;
  const words = t().operations;
  const { operations } = step;
  const done = at.value;
  const last = operations.length;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const move = KEYS[event.key];
    const isField = event.target instanceof HTMLInputElement; // the slider moves by itself
    if (!move || isField || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(move(done, last));
  }

  return html`
    <div class="operations" data-testid="execution-view" role="group" aria-label=${words.title} onKeyDown=${onKeyDown}>
      <div class="operations-bar">
        <button type="button" class="button quiet small" data-testid="operation-back" aria-disabled=${done === 0 ? "true" : undefined}
          onClick=${() => go(done - 1)}>${words.back}</button>
        <button type="button" class="button small" data-testid="operation-forward" aria-disabled=${done === last ? "true" : undefined}
          onClick=${() => go(done + 1)}>${words.forward}</button>
        <input type="range" min="0" max=${last} value=${done} aria-label=${words.position} data-testid="operation-slider"
          onInput=${(/** @type {any} */ event) => go(Number(event.target.value))} />
        <span data-testid="operation-count">${words.place(done, last)}</span>
        <button type="button" class="button quiet small" title=${words.againAbout} onClick=${look}>${words.again}</button>
        <button type="button" class="button quiet icon-only" aria-label=${words.close} title=${words.close} data-testid="operation-close"
          onClick=${leave}><${Icon} name="close" /></button>
      </div>
      <p class="hint">${words.hint}</p>
      ${step.left_out > 0 && html`<p class="hint">${words.leftOut(step.left_out)}</p>`}
      <div class="operations-columns">
        <${Queue} operations=${operations} done=${done} />
        <${Waiting} operations=${operations} done=${done} />
        <${Devices} operations=${operations} done=${done} />
      </div>
      <div class="operations-last" data-testid="operation-last">
        <div role="status">${done > 0 && html`<${LastOperation} operation=${operations[done - 1]} />`}</div>
        ${done > 0 && html`<${Values} operation=${operations[done - 1]} />`}
      </div>
      <${CompilerPasses} step=${step} />
    </div>
  `;
}

/** @typedef {{operations: Operation[], done: number}} Moment */

/** The ready queue; the first of a device is taken next. @param {Moment} props */
function Queue({ operations, done }) {
  const words = t().operations;
  const queue = queueAfter(operations, done);
  return html`
    <section>
      <h4>${words.queue(queue.length)}</h4>
      <ol class="operations-queue" data-testid="queue">
        ${[...queue]
          .sort((a, b) => Number(b === done) - Number(a === done))
          .slice(0, MOST)
          .map(
            (place) => html`
          <li key=${place} data-next=${place === done ? "" : undefined}>
            <${OperationLink} name=${operations[place].name} />
            <span class="operations-device">${place === done ? words.next(operations[place].device) : operations[place].device}</span>
          </li>`,
          )}
        ${queue.length > MOST && html`<li class="hint">${words.more(queue.length - MOST)}</li>`}
      </ol>
      ${queue.length === 0 && html`<p class="hint">${words.allDone}</p>`}
    </section>
  `;
}

/** The operations that wait; first the ones whose count has just fallen. @param {Moment} props */
function Waiting({ operations, done }) {
  const words = t().operations;
  const counts = waitingCounts(operations, done);
  const fallen = new Map(
    (operations[done - 1]?.released ?? []).map(([place, before]) => [place, before]),
  );
  const waiting = counts.flatMap((count, place) => (count > 0 || fallen.has(place) ? [place] : []));
  const ordered = [...waiting].sort(
    (a, b) => Number(fallen.has(b)) - Number(fallen.has(a)) || counts[a] - counts[b] || a - b,
  );
  return html`
    <section>
      <h4>${words.waiting(counts.filter((count) => count > 0).length)}</h4>
      <ul class="operations-waiting" data-testid="waiting">
        ${ordered.slice(0, MOST).map(
          (place) => html`
          <li key=${place} data-fallen=${fallen.has(place) ? "" : undefined}>
            <${OperationLink} name=${operations[place].name} />
            <span class="operations-counts">${fallen.has(place) ? words.fell(fallen.get(place) ?? 0, counts[place]) : counts[place]}</span>
          </li>`,
        )}
        ${ordered.length > MOST && html`<li class="hint">${words.more(ordered.length - MOST)}</li>`}
      </ul>
    </section>
  `;
}

/** The last operation of each device. @param {Moment} props */
function Devices({ operations, done }) {
  const words = t().operations;
  return html`
    <section>
      <h4>${words.devices}</h4>
      <ul data-testid="execution-devices">
        ${lastOfDevices(operations, done).map(
          ([device, operation]) => html`
          <li key=${device} data-current=${operation !== null && operation === operations[done - 1] ? "" : undefined}>
            <b>${device}</b> ${operation ? html`<${OperationLink} name=${operation.name} />` : words.nothingYet}
          </li>`,
        )}
      </ul>
    </section>
  `;
}

/** The type of an operation, its device, and the operations fused into it. @param {{operation: Operation}} props */
function LastOperation({ operation }) {
  const words = t().operations;
  const { name, op, device, members, dispatch, kernel } = operation;
  return html`
    <h4><${OperationLink} name=${name} /></h4>
    <p>${words.ran(op, device)}${dispatch !== null && ` ${words.dispatch(dispatch + 1, kernel)}`}</p>
    ${members.length > 0 && html`<p>${words.members} ${members.map((member, n) => html`${n > 0 && ", "}<${OperationLink} key=${member} name=${member} />`)}</p>`}
  `;
}

/** The inputs and outputs of an operation. @param {{operation: Operation}} props */
function Values({ operation: { inputs, outputs } }) {
  const words = t().operations;
  return html`
    <div class="tables lab-table" tabindex="0" role="region" aria-label=${words.values}>
      <table>
        <thead><tr><th scope="col">${words.tensor}</th><th scope="col">${words.shape}</th>
          ${STATISTICS.map((key) => html`<th key=${key} scope="col">${t().nodeTabs.statistics[key]}</th>`)}</tr></thead>
        <tbody>
          ${inputs.map((tensor, n) => html`<${TensorRow} key=${`input ${n}`} kind=${words.input} tensor=${tensor} />`)}
          ${outputs.map((tensor, n) => html`<${TensorRow} key=${`output ${n}`} kind=${words.output} tensor=${tensor} />`)}
        </tbody>
      </table>
    </div>
  `;
}

/** @param {{kind: string, tensor: TensorSight}} props */
function TensorRow({ kind, tensor: { name, shape, dtype, statistics } }) {
  return html`
    <tr>
      <th scope="row">${kind} <code>${name.replace(/:0$/, "")}</code></th>
      <td>${format.shape(shape)} ${dtype}</td>
      ${STATISTICS.map((key) => html`<td key=${key}>${number(statistics[key])}</td>`)}
    </tr>
  `;
}

/** @param {number | null | undefined} value */
const number = (value) => (typeof value === "number" ? format.tick(value) : "–");
