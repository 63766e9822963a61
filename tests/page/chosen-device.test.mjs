/** The page says why "auto" took a device, in its own language, in the words of the command line. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { whyChosen } from "../../static/js/engine/chosen-device.js";
import { show } from "../../static/js/words/locale.js";
import * as store from "../../static/js/state/store.js";

globalThis.document ??= { documentElement: {} };
const IN_SOFTWARE =
  "cpu:0, since gpu:0 (a card) is a software adapter, which computes on the same cores.";
const ON_GPU = "gpu:0 (a card), since it is faster than the processor in a page.";

function meet(isSoftware, reason = null) {
  const info = { name: "a card", is_software: isSoftware };
  store.gpu.value = { known: true, info, problem: null, isAsked: false };
  store.fit.value = reason === null ? null : { device_reason: reason };
}

afterEach(async () => {
  store.deviceChoice.value = "auto";
  store.runState.value = "idle";
  await show("en");
});

test("a software adapter is avoided before anything has run", () => {
  meet(true);
  assert.equal(whyChosen(), IN_SOFTWARE);
  meet(false);
  assert.equal(whyChosen(), "");
});

test("a device that is chosen by hand has no reason", () => {
  meet(true, IN_SOFTWARE);
  for (const device of ["gpu", "cpu"]) {
    store.deviceChoice.value = device;
    assert.equal(store.avoidsSoftware.value, false);
    assert.equal(whyChosen(), "");
  }
});

test("a training goes by the reason that it began with", () => {
  meet(true, "");
  store.runState.value = "running";
  assert.equal(whyChosen(), "");
  meet(false, ON_GPU);
  store.deviceChoice.value = "cpu"; // for the next one
  assert.equal(whyChosen(), ON_GPU);
});

test("the reasons are translated", async () => {
  await show("zh-Hans");
  store.runState.value = "running";
  for (const reason of [IN_SOFTWARE, ON_GPU, "cpu:0, since there is no GPU here."]) {
    meet(true, reason);
    assert.match(whyChosen(), /因为/);
    assert.doesNotMatch(whyChosen(), /since/);
  }
  assert.match(whyChosen(), /GPU/);
  meet(true, "gpu:0, by measurement: 1 ms.");
  assert.equal(whyChosen(), "gpu:0, by measurement: 1 ms.");
});
