/** The events of the training that is watched: they change the page as those of its own engine do. */

import { isWellFormed } from "../../engine/message-checks.js";
import { count, isObject, oneOf, record, text } from "../../engine/forms.js";
import { batch } from "../../vendor/preact.js";
import { flushEvents, receive } from "../engine/engine-events.js";
import { labRecorder } from "../panels/lab/lab-runs.js";
import * as store from "../state/store.js";
import { WATCH, host, isAway, told } from "./watched.js";

const isWatched = record({ program: text, source: text, began: count, host: text, version: text });
const isLink = record({
  state: oneOf("connecting", "live", "lost", "refused", "ended"),
  address: text,
  reason: text,
});

/** Kinds of events that a training sends to those who watch. @type {ReadonlySet<string>} */
const KINDS = new Set([
  "status",
  "stdout",
  "stderr",
  "error",
  "fit_begin",
  "progress",
  "epoch_end",
  "rating",
  "fit_end",
  "setting",
  "lab_fit",
  "trace",
]);

/** Between two attempts to reach the page's own server, once the browser has given up. */
const RETRY_MS = 2000;

/** Follow the training, for the lifetime of the page. */
export function followTraining() {
  store.engine.value = "up";
  connect();
}

/** The browser connects again by itself where it was, unless the server has ended or refuses. */
function connect() {
  const events = new EventSource(`${WATCH}/events`);
  events.addEventListener("open", () => (isAway.value = false));
  events.addEventListener("message", ({ data }) => take(parsed(data)));
  events.addEventListener("error", () => {
    isAway.value = true;
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
  });
  events.addEventListener("end", () => {
    events.close();
    isAway.value = true;
    setTimeout(connect, RETRY_MS);
  });
}

/** @param {string} json */
const parsed = (json) =>
  JSON.parse(json, (_, value) =>
    isObject(value) && typeof value.number === "string" ? Number(value.number) : value,
  );

/** @param {any} event */
function take(event) {
  if (event.kind === "link" && isLink(event)) {
    const { state, address, reason } = event;
    told.value = { state, address, reason };
  } else if (event.kind === "watched" && isWatched(event)) begin(event);
  else if (KINDS.has(event.kind) && isWellFormed(event)) receive(event);
  else console.error("An event of the training was dropped:", event);
}

/**
 * All events of a training follow: of another one than before, or of the same, of which some were missed.
 * @param {{program: string, source: string, began: number, host: string}} training
 */
function begin({ program, source, began, host: machine }) {
  flushEvents();
  const isSame = store.executed.value.began === began;
  if (store.active.value && !isSame) store.runState.value = "stopped"; // so that it is among the runs
  batch(() => {
    store.clearShown();
    store.labRuns.value = [];
    store.labShown.value = null;
    host.value = machine;
    store.examples.value = [{ id: program, title: program, description: "", source }];
    store.exampleId.value = program;
    store.source.value = source;
    store.executed.value = { exampleId: program, source, began };
    store.runState.value = "running";
    labRecorder.follow(program);
  });
  document.title = `${program} – playgrad`;
}
