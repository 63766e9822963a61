import assert from "node:assert/strict";
import test from "node:test";
import { EngineClient, EngineFailure } from "../../static/js/engine/engine-client.js";
import { READY } from "./ready.mjs";

const QUESTION = { kind: "predict", pixels: [] };

/**
 * A client whose workers are played by the test: what they send arrives through their ports. The
 * first one speaks unless `say` is told the number of another.
 */
async function started(t) {
  /** @type {any[]} */
  const commands = [];
  globalThis.Worker = class {
    postMessage(command) {
      if (command.dataBytes !== undefined) commands.push(command); // of Python's workers
    }
    terminate() {}
  };
  globalThis.navigator ??= /** @type {any} */ ({ hardwareConcurrency: 2 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {any[]} */
  const received = [];
  const client = new EngineClient((event) => received.push(event));
  client.start();
  const say = async (event, worker = 0) => {
    commands[worker].port.postMessage(event);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  t.after(() => commands.forEach(({ port }) => port.close()));
  return { client, say, commands, received };
}

const RUN = /** @type {const} */ ({ kind: "run", source: "", options: { device: "auto" } });

/** A client whose first run has ended, and whose second one waits for the spare worker. */
async function waiting(t) {
  const played = await started(t);
  const { client, say, commands, received } = played;
  await say(READY);
  client.post(RUN);
  await say({ kind: "status", state: "running" });
  await say({ kind: "status", state: "done", built: false });
  assert.equal(commands.length, 2, "a spare worker boots");
  received.length = 0;
  client.post(RUN);
  const pokes = [];
  commands[1].port.on("message", ({ kind }) => kind === "poke" && pokes.push(kind));
  return { ...played, pokes };
}

test("nothing of the last run is heard while the next one waits for its worker", async (t) => {
  const { say, received } = await waiting(t);
  for (const event of [
    { kind: "stdout", text: "left behind\n" },
    { kind: "status", state: "stopped" },
    { kind: "error", type: "ValueError", message: "left behind", line: null, op: null },
  ])
    await say(event);
  assert.deepEqual(received, []);
  await say(READY, 1);
  await say({ kind: "stdout", text: "new\n" }, 1);
  assert.deepEqual(
    received.map(({ kind }) => kind),
    ["ready", "stdout"],
  );
});

const LEFT_BEHIND = { kind: "stdout", text: "left behind\n" };
const kinds = (/** @type {any[]} */ events) => events.map(({ kind, state }) => state ?? kind);

test("nothing of the last run is heard after the one that waited was stopped", async (t) => {
  const { client, say, commands, received } = await waiting(t);
  client.stop(() => {});
  await say(LEFT_BEHIND);
  assert.deepEqual(kinds(received), ["stopped"]);
  await say({ kind: "status", state: "idle", built: false }); // it has forgotten the last run
  await say({ kind: "stdout", text: "typed\n" });
  assert.deepEqual(kinds(received), ["stopped", "stdout"], "the prompt is heard");
  client.post(RUN);
  client.stop(() => {});
  await say({ kind: "crash", message: "the modules are gone" });
  assert.deepEqual(kinds(received), ["stopped", "stdout", "stopped"]);
  await say(READY, 1);
  assert.equal(received.at(-1).kind, "ready");
  assert.equal(commands.length, 2);
});

test("nothing of the last run is heard after a reset", async (t) => {
  const { client, say, received } = await started(t);
  await say(READY);
  client.post(RUN);
  await say({ kind: "status", state: "done", built: false });
  received.length = 0;
  client.post({ kind: "reset" });
  await say(LEFT_BEHIND);
  await say({ kind: "tuning", kernels: {}, measured: false, wanted: false });
  await say({ kind: "status", state: "idle", built: false });
  await say({ kind: "stdout", text: "typed\n" });
  assert.deepEqual(kinds(received), ["tuning", "idle", "stdout"]);
});

test("nothing of the last run is heard by the next one in the same worker", async (t) => {
  const { say, received } = await waiting(t);
  await say({ kind: "crash", message: "the server cannot be reached" }, 1); // the spare one
  await say(LEFT_BEHIND);
  assert.deepEqual(kinds(received), ["reused"]);
  await say({ kind: "status", state: "running" });
  await say({ kind: "stdout", text: "new\n" });
  assert.deepEqual(kinds(received), ["reused", "running", "stdout"]);
});

test("the end of the last run's worker does not break the run that waits", async (t) => {
  const { say, received, pokes, commands } = await waiting(t);
  await say({ kind: "crash", message: "the modules are gone" });
  await say({ kind: "stderr", text: "late\n" });
  assert.deepEqual(received, []);
  assert.equal(commands.length, 2);
  assert.deepEqual(pokes, ["poke"], "the run is in the mailbox of the spare worker");
  await say(READY, 1);
  await say({ kind: "status", state: "running" }, 1);
  assert.deepEqual(
    received.map(({ kind }) => kind),
    ["ready", "status"],
  );
  await say({ kind: "crash", message: "its own" }, 1);
  assert.equal(received.at(-1).kind, "crash");
});

test("a question waits for Python to start, however slow the line is", async (t) => {
  const { client, say } = await started(t);
  await say({ kind: "loading", stage: "python", received: 1, total: 2 });
  /** @type {unknown} */
  let failure = null;
  client.ask(QUESTION).catch((error) => (failure = error));
  for (let seconds = 0; seconds < 90; seconds += 1) t.mock.timers.tick(1000);
  await new Promise(setImmediate);
  assert.equal(failure, null);

  await say(READY);
  for (let seconds = 0; seconds < 45; seconds += 1) t.mock.timers.tick(1000);
  await new Promise(setImmediate);
  assert.ok(failure instanceof EngineFailure, "a Python that has started has to answer");
});

test("only an answer to the same question is taken", async (t) => {
  const { client, say, received } = await started(t);
  await say(READY);
  const answer = client.ask(QUESTION);
  const reply = { kind: "reply", id: 1, ok: true };
  await say({ ...reply, question: "complete", answer: [] });
  assert.equal(received.at(-1).kind, "forged");
  await say({ ...reply, question: "predict", answer: { probabilities: [1], label: "0" } });
  const right = { probabilities: [1], label: 0 };
  await say({ ...reply, question: "predict", answer: right });
  assert.deepEqual(await answer, right);
});
