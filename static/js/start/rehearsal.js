/**
 * A rehearsal of the first run, in an interpreter that is thrown away.
 *
 * V8 compiles a function of Python's interpreter when it is first called, and again, for speed, when it
 * has been called often. What it has compiled serves all workers of the page. So a first run would take
 * twice as long as the next one, had not another program done the same work while the page was idle.
 */

import { effect } from "../../vendor/preact.js";
import { client } from "../engine/engine.js";
import * as store from "../state/store.js";
import { runBeside } from "../trials/trial-runner.js";
import { hasMemoryForPython } from "./own-image.js";

/** How long Python must have been up, and nothing been running. */
const QUIET_MS = 500;
/** A machine that takes so long is too slow to do things ahead. */
const MOST_MS = 10_000;

const PROGRAM = `\
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(256, 2)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(8, activation="tanh"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.03), loss, ["accuracy"])
model.fit(x, y, batch_size=64, epochs=40, validation_split=0.25)
`;

/** What the page asks while a network trains: the drawn plane. */
const QUESTION = /** @type {const} */ ({
  kind: "task_view",
  id: 1,
  known: 0,
  sample: { prompt: null, temperature: 0.5, seed: 0, seconds: 0.1 },
});

/** @typedef {import("../trials/trial-runner.js").Beside} Beside */

/** Rehearse once while nothing runs; a run that begins ends the rehearsal for good. */
export function rehearseFirstRun() {
  const isWorthwhile = hasMemoryForPython() && navigator.hardwareConcurrency > 1;
  if (!isWorthwhile) return;
  /** @type {Beside | undefined} */
  let beside;
  let timer = 0;
  let isOver = false;
  const end = () => {
    isOver = true;
    clearTimeout(timer);
    beside?.close();
    beside = undefined;
  };
  const begin = async () => {
    if (document.hidden) return;
    await client.prepareToOpen();
    if (isOver) return;
    timer = setTimeout(end, MOST_MS);
    beside = runBeside({ source: PROGRAM, device: "cpu", heard, ended: end });
  };
  /** @param {import("../../engine/messages.js").PythonEvent} event */
  const heard = (event) => {
    if (event.kind === "progress" && event.step === 1) beside?.post(QUESTION);
    else if (event.kind === "status" && event.state !== "running") end();
  };
  effect(() => {
    if (store.active.value || store.queuedRun.value) end();
    else if (store.engine.value === "up" && !isOver && !timer) timer = setTimeout(begin, QUIET_MS);
  });
}
