/** Asks the engine for the view of the task, as often as it is worth and only while it is shown. */

import { Asker, QUICK_MS, interval, restAfter } from "../engine/asker.js";
import { taskView } from "../engine/questions.js";
import * as store from "../state/store.js";

/** @import { TaskView } from "../../engine/messages.js" */

/** The first answer of a model takes longer than the next ones: its part of the graph is compiled. */
const FIRST_REST_MS = 300;
/** A first step that takes longer than this does not notice an answer, which then comes with it. */
const LONG_STEP_MS = 2000;
/** Text stays long enough to be read. */
const TEXT_REST_MS = 1000;

/**
 * Complete an answer with the data of the view before, if it is of the same data.
 * @param {TaskView} view
 * @param {TaskView | null} before
 * @returns {TaskView}
 */
export function completed(view, before) {
  if (!("outputs" in view || "predicted" in view) || view.data || before?.version !== view.version)
    return view;
  return /** @type {TaskView} */ ({ ...view, data: /** @type {any} */ (before).data });
}

/** The numbers in bytes that Python sent. @param {Uint8Array} bytes */
export const floats = (bytes) => new Float32Array(bytes.slice().buffer);
/** @param {Uint8Array} bytes int32 */
export const integers = (bytes) => new Int32Array(bytes.slice().buffer);

export class TaskAsker {
  #asker = new Asker(
    () => this.#ask(),
    (problem) => {
      if (problem) store.taskProblem.value = problem;
    },
  );
  #version = 0;
  #cost = 0;
  #timer = 0;

  /** The model, or the knowledge of it, has changed. The first step of a training waits for no answer, unless it is long. */
  changed() {
    clearTimeout(this.#timer);
    const isBeginning = store.runState.value === "running" && store.progress.value.step === 0;
    this.#asker.changed(store.liveModel.value && !isBeginning);
    if (isBeginning)
      this.#timer = setTimeout(() => this.#asker.changed(store.liveModel.value), LONG_STEP_MS);
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#asker.show(visible);
  }

  async #ask() {
    const { began } = store.executed.value;
    const view = await taskView(store.task.value?.version ?? 0);
    const take = () => {
      if (store.liveModel.value && began === store.executed.value.began)
        this.#take(completed(view, store.task.value));
    };
    return {
      take,
      interval: view.shows === "plane" || store.past.value ? QUICK_MS : interval(),
      rest: this.#restAfter(view),
    };
  }

  /** @param {TaskView} view */
  #take(view) {
    // Data that the page had when it asked may be gone.
    if (("outputs" in view || "predicted" in view) && !view.data) {
      store.clearTask();
      this.changed();
      return;
    }
    store.task.value = view;
    store.taskProblem.value = "";
  }

  /** The time to leave the model alone, in milliseconds. @param {TaskView} view */
  #restAfter({ shows, version, seconds }) {
    const isFirst = version !== this.#version;
    this.#version = version;
    const cost = isFirst ? seconds : Math.min(seconds, this.#cost);
    this.#cost = seconds;
    const usual = restAfter(cost, shows === "plane");
    const rest = isFirst ? Math.min(usual, FIRST_REST_MS) : usual;
    if (store.past.value) return 0; // each place of the slider is asked once
    if (shows !== "text") return rest;
    return store.runState.value === "running" ? Math.max(rest, TEXT_REST_MS) : 0;
  }
}
