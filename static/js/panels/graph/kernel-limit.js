import { html, useEffect, useState } from "../../../vendor/preact.js";
import { kernelBench } from "../../engine/questions.js";
import { t } from "../../words/locale.js";
import { KernelTable } from "./kernel-table.js";
import { reasonOf } from "./node-words.js";

/** @import { KernelTimes } from "../../../engine/messages.js" */

/** Measures the kernels of an operation beside the physical limit, on request. @param {{name: string}} props */
export function KernelLimit({ name }) {
  const [isBusy, setBusy] = useState(false);
  const [times, setTimes] = useState(/** @type {KernelTimes | null} */ (null));
  const [problem, setProblem] = useState("");
  const words = t().bench;
  useEffect(() => {
    setTimes(null);
    setProblem("");
  }, [name]);

  async function measure() {
    setBusy(true);
    try {
      const answer = await measured(name);
      setTimes(answer.times);
      setProblem(answer.times?.error ?? (answer.problem ? reasonOf(answer.problem) : ""));
    } catch (failure) {
      setProblem(/** @type {Error} */ (failure).message);
    }
    setBusy(false);
  }

  return html`
    <div class="kernel-limit" data-testid="kernel-limit">
      <button type="button" class="button small" data-testid="measure-limit" disabled=${isBusy} title=${words.measureAbout} onClick=${measure}>
        ${isBusy ? words.timing : words.measure}</button>
      ${problem && html`<p class="hint" role="alert">${problem}</p>`}
      ${times && !times.error && html`<${KernelTable} times=${times} isChanged=${false} />`}
    </div>
  `;
}

/** Times the compiler's kernels on a bench that is open for no longer than that. @param {string} name */
async function measured(name) {
  try {
    const answer = await kernelBench(name, "open");
    return answer.opened ? await kernelBench(name, "time", answer.opened.kernels[0]) : answer;
  } finally {
    await kernelBench(name, "close");
  }
}
