import assert from "node:assert/strict";
import test from "node:test";
import { EngineClient, EngineFailure } from "../../static/js/engine/engine-client.js";

const QUESTION = { kind: "predict", pixels: [] };

/** A client whose worker is played by the test: what it sends arrives through the port of the first worker. */
async function started(t) {
  /** @type {any[]} */
  const commands = [];
  globalThis.Worker = class {
    postMessage(command) {
      commands.push(command);
    }
    terminate() {}
  };
  globalThis.navigator ??= /** @type {any} */ ({ hardwareConcurrency: 2 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new EngineClient(() => {});
  client.start();
  const { port } = commands[0];
  const say = async (event) => {
    port.postMessage(event);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  t.after(() => port.close());
  return { client, say };
}

test("a question waits for Python to start, however slow the line is", async (t) => {
  const { client, say } = await started(t);
  await say({ kind: "loading", stage: "python", received: 1, total: 2 });
  /** @type {unknown} */
  let failure = null;
  client.ask(QUESTION).catch((error) => (failure = error));
  for (let seconds = 0; seconds < 90; seconds += 1) t.mock.timers.tick(1000);
  await new Promise(setImmediate);
  assert.equal(failure, null);

  await say({ kind: "ready", version: "1", python: "3", numpy: "2", timings: {} });
  for (let seconds = 0; seconds < 45; seconds += 1) t.mock.timers.tick(1000);
  await new Promise(setImmediate);
  assert.ok(failure instanceof EngineFailure, "a Python that has started has to answer");
});
