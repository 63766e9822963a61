/** The spare worker starts from the first one's template, which waits until it is needed. */

import assert from "node:assert/strict";
import test from "node:test";
import { Spare } from "../../static/engine/spare.js";

const LISTENER = () => ({ received() {}, ended() {}, forged() {} });
const MOST_TURNS = 100;

/**
 * A spare whose workers are played by the test.
 * @param {import("node:test").TestContext} t
 */
function played(t) {
  /** @type {any[]} commands with which workers were started */
  const started = [];
  globalThis.Worker = /** @type {any} */ (
    class {
      postMessage(/** @type {any} */ command) {
        started.push(command);
      }
      terminate() {}
    }
  );
  globalThis.navigator ??= /** @type {any} */ ({ hardwareConcurrency: 2 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const spare = new Spare(() => {});
  t.after(() => {
    spare.take()?.terminate();
    started.forEach(({ port }) => port.close());
  });
  const until = async (/** @type {() => boolean} */ isSo) => {
    for (let turn = 0; !isSo() && turn < MOST_TURNS; turn++) await new Promise(setImmediate);
    assert.ok(isSo());
  };
  return { spare, started, until };
}

const template = (/** @type {any} */ image) =>
  /** @type {any} */ ({ image, runtime: { "/lock": new Uint8Array([7]) }, code: "compiled" });

test("a template is moved into shared memory as soon as a worker is to start from it", async (t) => {
  const { spare, started, until } = played(t);
  spare.inherit(template(new Uint8Array([1, 2, 3])));
  assert.equal(spare.template, undefined);
  spare.boot(LISTENER, 0);
  spare.boot(LISTENER, 0);
  await until(() => started.length > 0);
  const { image, runtime, code } = started[0].template;
  assert.deepEqual([...image, ...runtime["/lock"]], [1, 2, 3, 7]);
  assert.ok(image.buffer instanceof SharedArrayBuffer);
  assert.equal(code, "compiled");
  assert.equal(started.length, 1);
});

test("a template is moved when nothing has needed it for a while", async (t) => {
  const { spare, until } = played(t);
  spare.inherit(template(new Uint8Array([1, 2, 3])));
  t.mock.timers.tick(3000);
  await until(() => spare.template !== undefined);
});

test("where there is no room for a template, the spare worker starts without one", async (t) => {
  const { spare, started, until } = played(t);
  const said = t.mock.method(console, "info", () => {});
  spare.inherit(template({ length: Number.MAX_SAFE_INTEGER }));
  spare.boot(LISTENER, 0);
  await until(() => started.length === 1);
  assert.equal(started[0].template, undefined);
  assert.match(said.mock.calls[0].arguments[0], /no template: RangeError/);
  spare.take()?.terminate();
  spare.boot(LISTENER, 0);
  assert.equal(started.length, 2, "and the next one, too");
});

test("a worker that is needed at once does not wait for the template", (t) => {
  const { spare, started } = played(t);
  spare.inherit(template(new Uint8Array([1])));
  spare.boot(LISTENER, 0, true);
  assert.equal(started.length, 1);
});
