import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { classNames } from "../../class-names.js";
import { ConfusionTable } from "../../components/confusion-table.js";
import { TestStrip } from "../../components/image-strip.js";
import { SavePicture } from "../../components/save-picture-button.js";
import { t } from "../../locale.js";
import { onVisible } from "../../observe.js";
import { namedSet } from "../../own-data/data-names.js";
import * as store from "../../store.js";
import { TaskAsker } from "../../task.js";
import { useProgress } from "../../use-training.js";
import { BoundaryView } from "./boundary-view.js";
import { DigitPanel } from "./digit-panel.js";
import { FitScatter } from "./fit-scatter.js";
import { TextSample } from "./text-sample.js";

/** What is shown: the name of its picture's file, and of its title. @param {import("../../../engine/messages.js").TaskView | null} task */
function nameOf(task) {
  switch (task?.shows) {
    case "plane":
      return task.data?.scale === "linear" ? "prediction-over-the-plane" : "decision-boundary";
    case "images":
      return task.data?.tested ? "test-images" : "training-images";
    case "classes":
      return "predicted-against-true-classes";
    case "rows":
      return "predicted-against-true";
    case "text":
      return "text-the-network-writes";
    default:
      return "what-the-network-does";
  }
}

/** The main picture: what the model does with its data, for some kinds of data; for digits, a drawing that it reads. */
export function TaskPanel() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const asker = useRef(/** @type {TaskAsker | null} */ (null));
  asker.current ??= new TaskAsker();
  const known = store.liveModel.value;
  const state = store.runState.value;
  const fit = store.fit.value;
  const sample = store.sample.value;
  const past = store.past.value;

  useProgress(() => asker.current?.changed());
  useEffect(() => asker.current?.changed(), [known, state, fit, sample, past]);
  useEffect(() => {
    const element = place.current;
    const end = element
      ? onVisible(element, (isVisible) => asker.current?.show(isVisible))
      : () => {};
    return () => {
      end();
      asker.current?.show(false);
    };
  }, []);

  const task = store.task.value;
  const shows = task?.shows ?? "none";
  const withDrawing = takesDigits();
  return html`
    <div class="panel stage" data-digits=${withDrawing ? "" : undefined}>
      <${DigitPanel} isShown=${withDrawing} />
      <section class="task" aria-labelledby="task-title" ref=${place} data-testid="task"
        data-shows=${shows}>
        <div class="panel-head"><h2 id="task-title">${t().task.titles[nameOf(task)]}</h2>
          ${
            shows !== "none" &&
            shows !== "unknown" &&
            html`<${SavePicture} of=${() => place.current} name=${nameOf(task)}
            what=${t().task.thisPicture} id="task" />`
          }</div>
        ${task?.shows === "plane" && html`<${BoundaryView} view=${task} names=${classNames()} />`}
        ${task?.shows === "images" && html`<${TestStrip} view=${task} names=${classNames()} />`}
        ${task?.shows === "classes" && html`<${ConfusionTable} view=${task} names=${classNames()} />`}
        ${task?.shows === "rows" && html`<${FitScatter} view=${task} />`}
        ${task?.shows === "text" && html`<${TextSample} view=${task} />`}
        ${(shows === "none" || shows === "unknown" || store.taskProblem.value) && html`<p class="hint task-hint">${remark(task)}</p>`}
      </section>
    </div>
  `;
}

/** @param {import("../../../engine/messages.js").TaskView | null} task */
function remark(task) {
  if (store.taskProblem.value) return t().task.problem(store.taskProblem.value);
  if (task?.shows === "none") return t().task.none;
  if (store.liveModel.value && !task) return t().task.asking;
  return store.runState.value === "done" && !store.fit.value ? t().task.untrained : t().task.idle;
}

/** Programs that are about digits, before they have shown their data. */
const DIGITS = /\bmnist\b|\b784\b|\b28\b/;

/** Whether the network classifies images of 28 by 28 pixels, for all that is known. */
function takesDigits() {
  const task = store.task.value;
  if (task?.shows === "images") {
    return (
      showsDigits(store.executed.value.source) &&
      task.data?.height === 28 &&
      task.data.width === 28 &&
      task.data.channels === 1
    );
  }
  if (task && task.shows !== "unknown") return false;
  if (store.active.value) return isOfDigits(store.executed.value.source);
  if (!store.hasModel.value) return isOfDigits(store.source.value);
  // A later run that trained nothing leaves the weights of the one before.
  return isOfDigits((store.kept.value?.program ?? store.executed.value).source);
}

/** @param {string} source */
const isOfDigits = (source) => DIGITS.test(source) && showsDigits(source);

/** Whether no other images are in a program. @param {string} source */
const showsDigits = (source) => ["mnist", undefined].includes(namedSet(source));
