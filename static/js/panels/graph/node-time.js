import { html, useState } from "../../../vendor/preact.js";
import { nodeTime } from "../../engine/questions.js";
import { kernelTime, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { useAnswer } from "./node-answer.js";

/** In a shorter run, compiling takes more of the time than the steps do: it does not say how long one is. */
const FEWEST_STEPS = 10;

/** The time that a node takes by itself. @param {{node: import("../../../engine/messages.js").GraphNode}} props */
export function NodeTime({ node }) {
  const words = t().nodeTabs;
  const [again, setAgain] = useState(0);
  const { answer, waiting } = useAnswer(
    () => nodeTime(node.name),
    [node.name, again, store.liveModel.value],
  );
  if (!answer?.measured) return waiting;
  const { seconds, runs, device } = answer.measured;
  const { step, stepsPerSecond: rate } = store.progress.value;
  return html`
    <dl class="node-statistics" data-testid="node-seconds">
      <div><dt>${words.alone}</dt><dd>${kernelTime(seconds)}</dd></div>
      ${
        rate !== null &&
        rate > 0 &&
        step >= FEWEST_STEPS &&
        html`
        <div><dt>${words.step}</dt><dd>${kernelTime(1 / rate)}</dd></div>
        <div><dt>${words.share}</dt><dd>${tick(100 * seconds * rate)}%</dd></div>
      `
      }
    </dl>
    <p class="hint">${words.measuredHow(runs, device)}</p>
    <button type="button" class="button small" onClick=${() => setAgain(again + 1)}>${words.again}</button>
  `;
}
