/** While a network trains, all automatic changes are applied in the scheduled frames of the page. */

import assert from "node:assert/strict";
import test from "node:test";
import { Asker } from "../../static/js/engine/asker.js";
import { FrameScheduler } from "../../static/js/state/frame-scheduler.js";
import { EventQueue } from "../../static/js/engine/event-queue.js";
import * as store from "../../static/js/state/store.js";
import { clock } from "./clock.mjs";

const settle = () => new Promise(setImmediate);

test("all changes within a second happen at five or six moments", (t) => {
  const { now, wait } = clock(t);
  const frames = new FrameScheduler();
  const times = new Set();
  for (let passed = 0; passed < 10_000; passed += 1) {
    frames.next(() => times.add(now()));
    if (passed % 3 === 0) frames.next(() => times.add(now()));
    wait(1);
  }
  assert.ok(times.size >= 50 && times.size <= 57, `${times.size} in ten seconds`);
  wait(1000);
});

/**
 * The scheduled frames a second of a page whose frames take long.
 * @param {ReturnType<typeof clock>} time
 * @param {number} cost milliseconds
 * @param {boolean} isQuick whether some of the changes move before the eye
 */
function drawn({ now, wait, skip }, cost, isQuick) {
  const frames = new FrameScheduler();
  const times = new Set();
  const began = now();
  let asked = false;
  const change = () => {
    if (!times.has(now())) skip(cost);
    times.add(now());
  };
  for (let passed = 0; passed < 10_000; passed += 1) {
    frames.next(change);
    if (isQuick && !asked) {
      asked = true;
      frames.next(() => (asked = false), true);
    }
    wait(1);
  }
  const rate = (1000 * times.size) / (now() - began);
  wait(1000);
  return rate;
}

test("where a frame takes long, there are fewer of them, but not much fewer than two a second", (t) => {
  const time = clock(t);
  const [quick, slow, slowest] = [2, 15, 200].map((cost) => drawn(time, cost, false));
  assert.ok(quick >= 5, `${quick} a second`);
  assert.ok(slow > 2.5 && slow < 4.5, `${slow} a second`);
  assert.ok(slowest > 1.5 && slowest < slow, `${slowest} a second`);
});

test("animations keep their pace when frames are slow", (t) => {
  const quick = drawn(clock(t), 15, true);
  assert.ok(quick >= 5, `${quick} a second`);
});

test("after a silence, the browser's next frame is taken", (t) => {
  const { now, wait } = clock(t);
  const frames = new FrameScheduler();
  const asked = now();
  let at = 0;
  frames.next(() => (at = now()));
  wait(1000);
  assert.ok(at - asked <= 17, `${at - asked} ms`);
});

test("a change that fails takes no other with it", async (t) => {
  const { wait } = clock(t);
  const frames = new FrameScheduler();
  let changed = 0;
  const failures = [];
  t.mock.method(globalThis, "queueMicrotask", (later) => {
    try {
      later();
    } catch (failure) {
      failures.push(failure.message);
    }
  });
  frames.next(() => {
    throw new Error("of a view");
  });
  frames.next(() => (changed += 1));
  wait(50);
  assert.equal(changed, 1);
  assert.deepEqual(failures, ["of a view"]);
});

/**
 * What a second of training with open views changes: the moments at which progress and the answers are shown.
 * @param {import("node:test").TestContext} t
 */
async function trained(t) {
  const { now, wait } = clock(t);
  const [progress, answers] = [new Set(), new Set()];
  store.runState.value = "running";
  const askers = [0.001, 0.004].map(
    (seconds) =>
      new Asker(
        async () => {
          await new Promise((resolve) => setTimeout(resolve, 37)); // to the end of a chunk of steps
          return { take: () => answers.add(now()), interval: 170, rest: 14_000 * seconds };
        },
        () => assert.fail(),
      ),
  );
  const queue = new EventQueue(() => {
    progress.add(now());
    for (const asker of askers) asker.changed();
  });
  for (const asker of askers) asker.show(true);
  for (let passed = 0; passed < 10_000; passed += 1) {
    if (passed % 80 === 0) queue.push({ kind: "progress" });
    wait(1);
    await settle();
  }
  for (const asker of askers) asker.show(false);
  wait(1000);
  await settle();
  return { progress, answers };
}

test("the answers of all views are shown at the moments of the progress", async (t) => {
  const { progress, answers } = await trained(t);
  assert.ok(answers.size >= 50, `${answers.size} answers in ten seconds`);
  const all = new Set([...progress, ...answers]);
  assert.ok(all.size <= 58, `${all.size} frames in ten seconds`);
});

/** An asker whose answers come after 10 ms. @param {import("node:test").TestContext} t */
function asking(t) {
  const { now, wait } = clock(t);
  const shown = [];
  let question = "a";
  const asker = new Asker(
    async (isCurrent) => {
      const about = question;
      await new Promise((resolve) => setTimeout(resolve, 10));
      return { take: () => isCurrent() && shown.push([about, now()]), interval: 170, rest: 0 };
    },
    () => assert.fail(),
  );
  const pass = async (milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += 1) {
      wait(1);
      await settle();
    }
  };
  return { asker, shown, now, pass, ask: (next) => asker.renewed(Boolean((question = next))) };
}

test("a visitor's own question does not wait for a scheduled frame, nor for the answer that does", async (t) => {
  const { asker, shown, now, pass, ask } = asking(t);
  store.runState.value = "running";
  asker.show(true);
  ask("a");
  await pass(20);
  assert.deepEqual(
    shown.map(([about]) => about),
    ["a"],
  );
  asker.changed();
  await pass(171); // asked again, and answered
  await pass(10);
  ask("b");
  const asked = now();
  await pass(15);
  assert.equal(shown.at(-1)[0], "b");
  assert.ok(shown.at(-1)[1] - asked <= 12);
  asker.show(false);
  await pass(1000);
  assert.equal(shown.filter(([about]) => about === "b").length, 1);
});

/**
 * How often a view is drawn in ten seconds of training.
 * @param {ReturnType<typeof clock>} time
 * @param {number} interval milliseconds from one question to the next
 * @param {number} cost milliseconds that the page takes to draw the view
 */
async function redrawn({ wait, skip, now }, interval, cost) {
  store.runState.value = "running";
  let times = 0;
  const take = () => {
    times += 1;
    skip(cost);
  };
  const asker = new Asker(
    async () => ({ take, interval, rest: 20 }),
    () => assert.fail(),
  );
  asker.show(true);
  for (const end = now() + 10_000; now() < end;) {
    asker.changed();
    wait(1);
    await settle();
  }
  asker.show(false);
  wait(3000);
  await settle();
  return times;
}

test("a slow view is asked less often, unless it is animated", async (t) => {
  const time = clock(t);
  const simple = await redrawn(time, 400, 1);
  const heavy = await redrawn(time, 400, 50);
  const quick = await redrawn(time, 170, 50);
  assert.ok(simple >= 16, `${simple} times`);
  assert.ok(heavy >= 7 && heavy <= 10, `${heavy} times`);
  assert.ok(quick >= 40, `${quick} times`);
});

test("no answer waits for a scheduled frame while nothing trains", async (t) => {
  const { asker, shown, now, pass } = asking(t);
  store.runState.value = "paused";
  asker.show(true);
  for (let times = 0; times < 5; times += 1) {
    const asked = now();
    asker.changed();
    await pass(180);
    assert.ok(shown.at(-1)[1] - asked <= 12);
    assert.equal(shown.length, times + 1);
  }
  asker.show(false);
});

test("the last of many questions is always answered", async (t) => {
  const { wait } = clock(t);
  let seed = 1;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let course = 0; course < 40; course += 1) {
    let [question, shown] = [0, -1];
    const asker = new Asker(
      async (isCurrent) => {
        const about = question;
        await new Promise((resolve) => setTimeout(resolve, random(400)));
        if (random(10) === 0) throw new Error("no answer");
        return { take: () => isCurrent() && (shown = about), interval: 170, rest: random(500) };
      },
      () => {},
    );
    asker.show(true);
    const acts = [
      () => asker.renewed(Boolean((question += 1))),
      () => asker.renewed(false),
      () => asker.changed(),
      () => asker.show(random(2) === 0),
      () => (store.runState.value = random(2) ? "running" : "paused"),
      () => {},
    ];
    for (let times = 0; times < 12; times += 1) {
      acts[random(acts.length)]();
      wait(random(300));
      await settle();
    }
    asker.show(true);
    asker.renewed(Boolean((question += 1)));
    for (let passed = 0; passed < 400 && shown !== question; passed += 1) {
      asker.changed();
      wait(10);
      await settle();
    }
    assert.equal(shown, question, `course ${course}`);
    asker.show(false);
    wait(1000);
    await settle();
  }
});
