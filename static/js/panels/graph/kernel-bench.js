import { html, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { kernelBench } from "../../engine/questions.js";
import { t } from "../../words/locale.js";
import { createKernelEditor, markLine, setText } from "./kernel-editor.js";
import { KernelTable } from "./kernel-table.js";
import { useAnswer } from "./node-answer.js";

/** @import { KernelReport, KernelTimes } from "../../../engine/messages.js" */
/** @typedef {import("../../../vendor/codemirror.js").EditorView} EditorView */

/** Edited kernels by the compiler's: they outlive the bench, which a new run closes. @type {Map<string, string>} */
const drafts = new Map();

/** A place to change a kernel of the selected operation, to check it and to time it. @param {{name: string}} props */
export function KernelBench({ name }) {
  const { answer, waiting } = useAnswer(() => kernelBench(name, "open"), [name]);
  const [number, setNumber] = useState(0);
  useEffect(() => () => void kernelBench(name, "close").catch(() => {}), [name]);
  const words = t().bench;
  if (!answer?.opened) return waiting;
  const { kernels, nodes, adapter, of_run: ofRun } = answer.opened;
  return html`
    <section class="kernel-bench" aria-labelledby="kernel-bench-title" data-testid="kernel-bench">
      <h4 id="kernel-bench-title">${words.title}</h4>
      <p class="hint">${words.about(nodes, adapter, ofRun)}</p>
      ${
        kernels.length > 1 &&
        html`<label class="kernel-choice">${words.kernel}
        <select value=${number} onChange=${(/** @type {any} */ event) => setNumber(Number(event.target.value))}>
          ${kernels.map((_, at) => html`<option key=${at} value=${at}>${words.number(at + 1, kernels.length)}</option>`)}
        </select></label>`
      }
      <${Kernel} key=${`${name} ${number}`} name=${name} number=${number} original=${kernels[number]} />
    </section>
  `;
}

/** @param {{name: string, number: number, original: string}} props */
function Kernel({ name, number, original }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const editor = useRef(/** @type {EditorView | null} */ (null));
  const [text, setCurrent] = useState(drafts.get(original) ?? original);
  const [busy, setBusy] = useState(/** @type {"check" | "time" | null} */ (null));
  const [report, setReport] = useState(/** @type {KernelReport | null} */ (null));
  const [times, setTimes] = useState(/** @type {KernelTimes | null} */ (null));
  const [problem, setProblem] = useState("");
  const words = t().bench;

  useEffect(() => {
    const view = createKernelEditor(
      /** @type {HTMLElement} */ (place.current),
      text,
      words.source,
      (changed) => {
        drafts.set(original, changed);
        setCurrent(changed);
        setReport(null);
        setTimes(null);
      },
    );
    editor.current = view;
    return () => view.destroy();
  }, []);

  /** @param {"check" | "time"} action */
  async function ask(action) {
    setBusy(action);
    setProblem("");
    try {
      const answer = await kernelBench(name, action, text, number);
      const { report: checked, times: measured } = answer;
      if (checked) setReport(checked);
      if (measured && !measured.error) setTimes(measured);
      const error = checked?.error ?? measured?.error ?? "";
      if (editor.current) markLine(editor.current, checked?.line ?? null, error);
      if (error) setProblem(error);
    } catch (failure) {
      setProblem(/** @type {Error} */ (failure).message);
    }
    setBusy(null);
  }

  function back() {
    if (!editor.current) return;
    setText(editor.current, original);
    markLine(editor.current, null, "");
    setProblem("");
  }

  return html`
    <div class="kernel-editor" ref=${place} data-testid="kernel-editor"></div>
    <div class="kernel-buttons">
      <button type="button" class="button small" data-testid="kernel-check" disabled=${busy !== null} onClick=${() => ask("check")}>
        ${busy === "check" ? words.checking : words.check}</button>
      <button type="button" class="button small" data-testid="kernel-time" disabled=${busy !== null} onClick=${() => ask("time")}>
        ${busy === "time" ? words.timing : words.time}</button>
      <button type="button" class="button small quiet" data-testid="kernel-back" disabled=${text === original} onClick=${back}>${words.back}</button>
    </div>
    ${problem && html`<pre class="kernel-problem" role="alert" data-testid="kernel-problem">${problem}</pre>`}
    ${report && !report.error && html`<${Report} report=${report} />`}
    ${times && html`<${KernelTable} times=${times} isChanged=${text !== original} />`}
  `;
}

/** @param {{report: KernelReport}} props */
function Report({ report: { passed, samples, others } }) {
  const words = t().bench;
  const wrong = samples.filter(({ problem }) => problem !== null);
  return html`
    <div role="status" data-testid="kernel-report" data-passed=${passed ? "" : undefined}>
      <p class="kernel-verdict">${passed ? words.passed(samples.length) : words.failed(wrong.length, samples.length)}</p>
      <ul>${wrong.map(({ name, problem }) => html`<li key=${name}><b>${words.sample(name)}</b> ${problem}</li>`)}</ul>
      ${others > 0 && html`<p class="hint">${words.others(others)}</p>`}
    </div>
  `;
}
