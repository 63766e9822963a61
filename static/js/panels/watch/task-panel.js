import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { lazy } from "../../components/lazy.js";
import { classNames } from "../../words/class-names.js";
import { ConfusionTable } from "../../components/confusion-table.js";
import { TestStrip } from "../../components/image-strip.js";
import { SavePicture } from "../../components/save-picture-button.js";
import { tabs } from "../../components/views.js";
import { t } from "../../words/locale.js";
import { onVisible } from "../../training/observe.js";
import { namedSet } from "../../own-data/data-names.js";
import * as store from "../../state/store.js";
import { TaskAsker } from "../../training/task.js";
import { useProgress } from "../../training/use-training.js";
import { BoundaryView } from "./boundary-view.js";
import { DigitPanel } from "./digit-panel.js";
import { FitScatter } from "./fit-scatter.js";
import { pictureNames, shownPicture } from "./main-picture.js";
import { PictureTitle } from "./picture-title.js";
import { shownProgram } from "./shown-program.js";
import { TextSample } from "./text-sample.js";

const NodesPicture = lazy(
  async () => (await import("./nodes-picture.js")).NodesPicture,
  () => ({ name: t().task.titles["classes-of-nodes"], waiting: t().task.asking }),
);

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
    case "nodes":
      return "classes-of-nodes";
    case "text":
      return "text-the-network-writes";
    default:
      return "what-the-network-does";
  }
}

/**
 * The main picture: what the model does with its data, for some kinds of data; for digits, a drawing that it reads;
 * or the picture of another panel that the visitor has chosen.
 * @param {{isFixed?: boolean}} props `isFixed`: there is no choice
 */
export function TaskPanel({ isFixed = false }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const asker = useRef(/** @type {TaskAsker | null} */ (null));
  asker.current ??= new TaskAsker();
  const known = store.liveModel.value;
  const state = store.runState.value;
  const fit = store.fit.value;
  const sample = store.sample.value;
  const past = store.past.value;
  const shrunk = store.shrunk.value;
  const task = store.task.value;
  const { names, picture, other } = choice();
  const hasChosen = useRef(false);
  const isInSight = useRef(false);
  const isWanted = !other || !task;
  const latest = useRef(isWanted);
  latest.current = isWanted;
  const show = () => asker.current?.show(isInSight.current && latest.current);

  useProgress(() => asker.current?.changed());
  useEffect(() => asker.current?.changed(), [known, state, fit, sample, past, shrunk]);
  useEffect(show, [isWanted]);
  useEffect(() => {
    const end = onVisible(/** @type {HTMLElement} */ (stage.current), (isVisible) => {
      isInSight.current = isVisible;
      show();
    });
    return () => {
      end();
      asker.current?.show(false);
    };
  }, []);

  const withDrawing = picture === "drawing";
  const all = isFixed ? [picture] : names.includes(picture) ? names : [...names, picture];
  const title = html`<${PictureTitle} title=${titleOf(picture)} names=${all} picture=${picture} titleOf=${titleOf} hasChosen=${hasChosen} />`;
  const shows = other?.name ?? task?.shows ?? "none";
  return html`
    <div class="panel stage" data-digits=${withDrawing ? "" : undefined} ref=${stage} data-testid="stage" data-picture=${picture}>
      <${DigitPanel} isShown=${withDrawing} title=${withDrawing && title} />
      ${
        other?.hasHead
          ? html`<${other.Picture} title=${title} />`
          : html`
      <section class="task" aria-labelledby=${withDrawing ? "task-title" : "picture-title"} ref=${place} data-testid="task"
        data-shows=${shows}>
        <div class="panel-head">${withDrawing ? html`<h2 id="task-title">${t().task.titles[nameOf(task)]}</h2>` : title}
          ${
            hasPicture(shows) &&
            !other?.comesFirst &&
            html`<${SavePicture} of=${() => place.current} name=${other?.name ?? nameOf(task)}
            what=${t().task.thisPicture} id="task" />`
          }</div>
        ${other && (other.comesFirst || store.canInspect.value) ? html`<${other.Picture} key=${picture} />` : html`<${OfTask} task=${other ? null : task} />`}
      </section>`
      }
    </div>
  `;
}

/** What is shown of all that can be: `other`, the picture of another panel. */
function choice() {
  const shows = store.task.value?.shows;
  const others = tabs().flatMap(({ pictures = [] }) => pictures);
  const there = others.filter(({ isThere }) => isThere());
  const first = there.find(({ comesFirst }) => comesFirst)?.name ?? null;
  const names = pictureNames(
    shows,
    takesDigits() ? "drawing" : first,
    there.map(({ name }) => name),
  );
  const chosen = store.pictures.value[store.exampleId.value];
  const possible = others.map(({ name }) => name);
  const picture = shownPicture(names, chosen, shows, possible);
  return { names, picture, other: others.find(({ name }) => name === picture) };
}

/** @param {string} picture */
function titleOf(picture) {
  if (picture === "drawing") return t().digits.title;
  const others = tabs().flatMap(({ pictures = [] }) => pictures);
  const other = others.find(({ name }) => name === picture);
  return other ? other.title() : t().task.titles[nameOf(store.task.value)];
}

/** @param {string} shows */
const hasPicture = (shows) => shows !== "none" && shows !== "unknown" && store.canInspect.value;

/** The picture of a task, or why there is none. @param {{task: import("../../../engine/messages.js").TaskView | null}} props */
function OfTask({ task }) {
  const isNothing = !task || task.shows === "none" || task.shows === "unknown";
  return html`
    ${task?.shows === "plane" && html`<${BoundaryView} view=${task} names=${classNames()} />`}
    ${task?.shows === "images" && html`<${TestStrip} view=${task} names=${classNames()} />`}
    ${task?.shows === "classes" && html`<${ConfusionTable} view=${task} names=${classNames()} />`}
    ${task?.shows === "rows" && html`<${FitScatter} view=${task} />`}
    ${task?.shows === "nodes" && html`<${NodesPicture} view=${task} names=${classNames()} />`}
    ${task?.shows === "text" && html`<${TextSample} view=${task} />`}
    ${(isNothing || store.taskProblem.value) && html`<p class="hint task-hint">${remark(task)}</p>`}
  `;
}

/** @param {import("../../../engine/messages.js").TaskView | null} task */
function remark(task) {
  if (store.taskProblem.value) return t().task.problem(store.taskProblem.value);
  if (task?.shows === "none") return t().task.none;
  if (store.liveModel.value && !task) return t().task.asking;
  if (store.error.value && store.runState.value === "error" && !store.liveModel.value)
    return t().task.failed;
  if (store.active.value) return t().task.awaited;
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
  return (!task || task.shows === "unknown") && isOfDigits(shownProgram());
}

/** @param {string} source */
const isOfDigits = (source) => DIGITS.test(source) && showsDigits(source);

/** Whether no other images are in a program. @param {string} source */
const showsDigits = (source) => ["mnist", undefined].includes(namedSet(source));
