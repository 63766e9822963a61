/** Floods of events are applied a few times a second, and no other event waits. */

import assert from "node:assert/strict";
import test from "node:test";
import { EventQueue } from "../../static/js/engine/event-queue.js";
import { clock } from "./clock.mjs";

const progress = { kind: "progress" };
const print = (/** @type {string} */ text) => ({ kind: "stdout", text });

/**
 * A queue whose events are kept with the time at which they were applied, and a clock.
 * @param {import("node:test").TestContext} t
 * @param {{isHidden?: boolean}} [page] whether the browser draws no frames
 */
function queued(t, page) {
  const { now, wait } = clock(t, page);
  wait(1000); // since the frames of another test
  const began = now();
  /** @type {{at: number, events: any[]}[]} */
  const applied = [];
  const queue = new EventQueue((events) => applied.push({ at: now() - began, events }));
  return { queue, applied, wait };
}

test("the first progress is shown with the next frame, and a flood of it with each scheduled frame", (t) => {
  const { queue, applied, wait } = queued(t);
  for (let at = 0; at < 1000; at += 1) {
    queue.push(progress);
    wait(1);
  }
  assert.ok(applied[0].at <= 17, `${applied[0].at} ms`);
  assert.ok(applied.length >= 5 && applied.length <= 6, `${applied.length} times`);
  wait(200);
  assert.equal(applied.flatMap(({ events }) => events).length, 1000);
});

test("the first progress of a training waits for no frame", (t) => {
  const { queue, applied, wait } = queued(t);
  queue.push({ kind: "fit_begin" });
  queue.push({ kind: "checkpoint" });
  wait(20); // a frame, after which the next one is not soon
  queue.push(progress);
  queue.push(progress);
  assert.deepEqual(
    applied.map(({ events }) => events.map(({ kind }) => kind)),
    [["fit_begin"], ["checkpoint"], ["progress"]],
  );
  wait(1000);
  assert.equal(applied.length, 4);
});

test("other events are applied at once, after all earlier events", (t) => {
  const { queue, applied, wait } = queued(t);
  queue.push(progress);
  queue.push({ kind: "status" });
  assert.deepEqual(
    applied.map(({ events }) => events.map(({ kind }) => kind)),
    [["progress", "status"]],
  );
  wait(1000);
  assert.equal(applied.length, 1);
});

test("a page in the background applies them, too", (t) => {
  const { queue, applied, wait } = queued(t, { isHidden: true });
  queue.push(progress);
  wait(300);
  assert.equal(applied.length, 1);
  queue.push(progress);
  wait(500);
  assert.equal(applied.length, 2);
});

test("pieces of output of one stream are joined, others are not", (t) => {
  const { queue, applied, wait } = queued(t);
  const gap = { kind: "stdout", text: "c", left_out: 5 };
  for (const event of [print("a"), print("b"), gap, print("d"), { kind: "stderr", text: "e" }])
    queue.push({ ...event });
  wait(150);
  assert.deepEqual(
    applied[0].events.map(({ text }) => text),
    ["ab", "c", "d", "e"],
  );
});
