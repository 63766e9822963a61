/** What a run has printed and the page has not yet shown is not shown as output of the next one. */

import assert from "node:assert/strict";
import test from "node:test";
import * as actions from "../../static/js/state/actions.js";
import { receive } from "../../static/js/engine/engine-events.js";
import { selectExample } from "../../static/js/gallery/examples.js";
import * as store from "../../static/js/state/store.js";
import { clock } from "./clock.mjs";
import { READY } from "./ready.mjs";

Object.assign(globalThis, { crossOriginIsolated: true, addEventListener() {}, self: globalThis });
globalThis.navigator ??= /** @type {any} */ ({ hardwareConcurrency: 2 });
globalThis.Worker = class {
  postMessage({ port }) {
    port?.close(); // the test says what it sends
  }
  terminate() {}
};

for (const [name, act] of [
  ["another run", actions.run],
  ["a reset", actions.reset],
  ["another example", () => selectExample("b")],
])
  test(`${name} leaves the output that waits for a frame behind`, (t) => {
    const { wait } = clock(t);
    wait(1000); // since the frames of another test
    store.examples.value = ["a", "b"].map((id) => ({ id, title: id, source: "" }));
    store.clearShown();
    store.engine.value = "starting";
    actions.startEngine();
    store.executed.value = { exampleId: "a", source: "", began: 1 };
    receive(/** @type {any} */ (READY));
    receive({ kind: "stdout", text: "waiting\n" });
    assert.deepEqual(shown(), []);
    act();
    wait(1000);
    assert.deepEqual(shown(), []);
  });

/** The lines of the output. */
const shown = () => store.transcript.lines.map(({ text }) => text);
