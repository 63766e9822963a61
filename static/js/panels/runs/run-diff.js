import { html } from "../../../vendor/preact.js";
import { diffLines } from "../../editor/code-diff.js";
import { t } from "../../words/locale.js";
import { summaryOf } from "./run-summary.js";
import * as store from "../../state/store.js";
import { isWatching } from "../../watching/watched.js";

/** @import { DiffLine } from "../../editor/code-diff.js" */
/** @import { Run } from "./runs.js" */

/** Unchanged lines shown around a change. */
const CONTEXT = 2;
const SIGNS = { same: " ", added: "+", removed: "−" };

/** A run in words, and its code: what is different from the run before it, or from the editor. @param {{run: Run, before?: Run, onRestore: () => void}} props */
export function RunDiff({ run, before, onRestore }) {
  const isComparable = before !== undefined && before.exampleId === run.exampleId;
  const lines = isComparable
    ? diffLines(before.code, run.code)
    : diffLines("", run.code).filter(({ kind }) => kind === "added");
  const isInEditor = store.exampleId.value === run.exampleId && store.source.value === run.code;
  const isSame = isComparable && lines.every(({ kind }) => kind === "same");
  const words = t().runs;
  return html`
    <section class="panel run-code" aria-labelledby="run-code-title" data-testid="run-code">
      <div class="panel-head">
        <h2 id="run-code-title">${isComparable ? words.comparedCode(run.number, before.number) : words.code(run.number)}</h2>
        ${
          !isWatching &&
          html`<button type="button" class="button small" data-testid="run-restore" disabled=${isInEditor}
          onClick=${onRestore}>${isInEditor ? words.isInEditor : words.restore}</button>`
        }
      </div>
      <h3 class="run-summary-title">${t().summary.title}</h3>
      <p class="run-summary" data-testid="run-summary">${t().numbers.sentences(summaryOf(run))}</p>
      ${isSame && html`<p class="lab-wait">${words.isSame}</p>`}
      <pre class="diff" tabindex="0">${(isComparable ? shortened(lines) : lines).map((line, index) => html`<${Line} key=${index} line=${line} isPlain=${!isComparable} />`)}</pre>
    </section>
  `;
}

/** @param {{line: DiffLine, isPlain: boolean}} props */
function Line({ line: { kind, text }, isPlain }) {
  if (isPlain) return html`<span class="diff-line">${text}\n</span>`;
  return html`<span class="diff-line" data-kind=${kind}><span aria-hidden="true">${SIGNS[kind]} </span><span
    class="visually-hidden">${kind === "same" ? "" : t().runs[kind]}</span>${text}\n</span>`;
}

/** Only the changes and the lines around them. @param {DiffLine[]} lines @returns {DiffLine[]} */
function shortened(lines) {
  const isNear = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1)
      .some(({ kind }) => kind !== "same"),
  );
  return lines.flatMap((line, index) => {
    if (isNear[index]) return [line];
    return isNear[index - 1] ? [{ kind: /** @type {const} */ ("same"), text: "…" }] : [];
  });
}
