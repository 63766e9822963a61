/** The view of a model that trains is asked for as often as the eye needs, and costs the training little. */

import assert from "node:assert/strict";
import test from "node:test";
import { EngineClient } from "../../static/js/engine/engine-client.js";
import * as store from "../../static/js/state/store.js";
import { TaskAsker } from "../../static/js/training/task.js";
import { clock } from "./clock.mjs";

const SECONDS = 40;

/**
 * Answers, and their share of the time, while a model trains; the test moves the clock.
 * @param {import("node:test").TestContext} t
 * @param {number} cost seconds that Python takes for an answer
 * @param {string} [shows] what is in it
 */
async function watch(t, cost, shows = "plane") {
  const { now, wait, skip } = clock(t);
  let answers = 0;
  t.mock.method(EngineClient.prototype, "ask", async () => {
    skip(1000 * cost);
    answers += 1;
    return { shows, version: 1, seconds: cost, data: {} };
  });
  store.runState.value = "running";
  store.progress.value = { ...store.progress.value, step: 1 };
  store.liveModel.value = true;
  const asker = new TaskAsker();
  asker.show(true);
  const began = now();
  while (now() - began < 1000 * SECONDS) {
    asker.changed();
    wait(4); // a step of the training
    await new Promise(setImmediate);
  }
  asker.show(false);
  wait(1000); // the last frame
  assert.equal(store.taskProblem.value, "");
  return { perSecond: answers / SECONDS, share: (answers * cost) / SECONDS };
}

for (const cost of [0.001, 0.005, 0.01]) {
  test(`a boundary that takes ${1000 * cost} ms is shown at least five times a second`, async (t) => {
    const { perSecond, share } = await watch(t, cost);
    assert.ok(perSecond >= 5, `${perSecond} a second`);
    assert.ok(share < 0.1, `${share} of the time`);
  });
}

test("images change less often, because drawing them costs the training as well", async (t) => {
  const { perSecond } = await watch(t, 0.001, "images");
  assert.ok(perSecond > 1.9 && perSecond < 2.6, `${perSecond} a second`);
});

test("an answer that does not move takes less than a twentieth of the time", async (t) => {
  const { perSecond, share } = await watch(t, 0.05, "rows");
  assert.ok(perSecond > 0.7, `${perSecond} a second`);
  assert.ok(share < 0.05, `${share} of the time`);
});

for (const cost of [0.03, 0.1, 0.5]) {
  test(`an answer of ${1000 * cost} ms takes less than a tenth of the time`, async (t) => {
    const { perSecond, share } = await watch(t, cost);
    assert.ok(perSecond > 0.05 / cost, `${perSecond} a second: it is still shown`);
    assert.ok(share < 0.1, `${share} of the time`);
  });
}

test("the first step of a training waits for no answer", async (t) => {
  const { wait } = clock(t);
  let questions = 0;
  t.mock.method(EngineClient.prototype, "ask", async () => {
    questions += 1;
    return { shows: "plane", version: 1, seconds: 0.01, data: {} };
  });
  store.liveModel.value = true;
  const asker = new TaskAsker();
  asker.show(true);
  const asked = async (
    /** @type {"running" | "paused"} */ state,
    /** @type {number} */ step,
    milliseconds = 1000,
  ) => {
    store.runState.value = state;
    store.progress.value = { ...store.progress.value, step };
    asker.changed();
    wait(milliseconds);
    await new Promise(setImmediate);
    return questions;
  };
  assert.equal(await asked("running", 0), 0);
  assert.equal(await asked("running", 1), 1);
  assert.equal(await asked("paused", 0), 2);
  assert.equal(await asked("running", 0, 3000), 3, "a step that takes so long");
  asker.show(false);
});
