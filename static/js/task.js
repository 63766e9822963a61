/** Asks the engine for the view of the task, as often as it is worth and only while it is looked at. */

import { EngineFailure } from "./engine-client.js";
import { taskView } from "./questions.js";
import * as store from "./store.js";

/** @import { TaskView } from "../engine/messages.js" */

/** The shortest time from one question to the next. */
const INTERVAL_MS = 170;
/** How long a question that is due waits for a change: in a frame of its own it would cost the training more. */
const GRACE_MS = 120;
/** The time between two answers is at least this many times what an answer costs. */
const REST = 14;
/** The first answer of a model takes longer than the next ones: its part of the graph is compiled. */
const FIRST_REST_MS = 300;
const FAILURE_MS = 1000;
/** Text stays long enough to be read. */
const TEXT_REST_MS = 1000;

/**
 * Complete an answer with the data of the view before, if it is of the same data.
 * @param {TaskView} view
 * @param {TaskView | null} before
 * @returns {TaskView}
 */
export function completed(view, before) {
  if (!("outputs" in view || "predicted" in view) || view.data || before?.version !== view.version) return view;
  return /** @type {TaskView} */ ({ ...view, data: /** @type {any} */ (before).data });
}

/** The numbers in bytes that Python sent. @param {Uint8Array} bytes */
export const floats = (bytes) => new Float32Array(bytes.slice().buffer);

export class TaskAsker {
  #visible = false;
  #stale = false;
  #busy = false;
  #timer = 0;
  #next = 0;
  #version = 0;
  #cost = 0;

  /** The model, or what is known of it, has changed. */
  changed() {
    this.#stale = store.liveModel.value;
    this.#schedule();
  }

  /** @param {boolean} visible */
  show(visible) {
    this.#visible = visible;
    this.#schedule();
  }

  #schedule() {
    if (!this.#visible || !this.#stale || this.#busy) return;
    const wait = this.#next - performance.now();
    if (wait <= 0 && !globalThis.document?.hidden) {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#ask();
    } else if (!this.#timer) {
      // There are no frames in a hidden tab.
      this.#timer = setTimeout(() => requestAnimationFrame(() => {
        this.#timer = 0;
        if (!this.#busy) this.#ask();
      }), Math.max(0, wait) + GRACE_MS);
    }
  }

  async #ask() {
    if (!this.#visible || !this.#stale || !store.liveModel.value) return;
    this.#busy = true;
    this.#stale = false;
    const asked = performance.now();
    const { began } = store.executed.value;
    let rest = FAILURE_MS;
    try {
      const view = await taskView(store.task.value?.version ?? 0);
      rest = this.#restAfter(view);
      if (store.liveModel.value && began === store.executed.value.began) this.#take(completed(view, store.task.value));
    } catch (failure) {
      // A Python that was replaced has no answer, and the next one will be asked.
      const info = failure instanceof EngineFailure ? failure.info : null;
      if (info?.type !== "EngineError") store.taskProblem.value = /** @type {Error} */ (failure).message;
    } finally {
      this.#busy = false;
      this.#next = Math.max(asked + INTERVAL_MS, performance.now() + rest);
      this.#schedule();
    }
  }

  /** @param {TaskView} view */
  #take(view) {
    // Data that the page had when it asked may be gone.
    if (("outputs" in view || "predicted" in view) && !view.data) {
      store.clearTask();
      this.#stale = true;
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
    const rest = isFirst ? Math.min(REST * 1000 * cost, FIRST_REST_MS) : REST * 1000 * cost;
    if (store.past.value) return 0; // each place of the slider is asked once
    if (shows !== "text") return rest;
    return store.runState.value === "running" ? Math.max(rest, TEXT_REST_MS) : 0;
  }
}
