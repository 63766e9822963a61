import assert from "node:assert/strict";
import test from "node:test";
import { LoadReport } from "../../static/engine/load-report.js";

/** A report whose clock the test moves, and what it has sent. */
function begin(t) {
  const clock = { now: 0 };
  t.mock.method(performance, "now", () => clock.now);
  const sent = [];
  const report = new LoadReport(({ progress }) => sent.push(progress));
  return { clock, sent, report };
}

test("a total is named once the size of every file is known", (t) => {
  const { clock, sent, report } = begin(t);
  const [code, library] = ["/code", "/library"].map((url) => report.options(url).progress);
  clock.now = 1500;
  code({ received: 1e6, total: 4e6 });
  clock.now = 2000;
  library({ received: 1e6, total: 2e6 });
  assert.deepEqual(sent, [
    { received: 1e6, total: 0 },
    { received: 2e6, total: 6e6 },
  ]);
});

test("a file that is given up counts no more", (t) => {
  const { clock, sent, report } = begin(t);
  const [code, image] = ["/code", "/image"].map((url) => report.options(url).progress);
  clock.now = 1500;
  image({ received: 1e6, total: 16e6 });
  report.drop("/image");
  clock.now = 2000;
  code({ received: 1e6, total: 4e6 });
  assert.deepEqual(sent.at(-1), { received: 1e6, total: 4e6 });
});

test("files that arrive quickly are not mentioned", (t) => {
  const { clock, sent, report } = begin(t);
  const { progress } = report.options("/code");
  clock.now = 500;
  progress({ received: 4e6, total: 4e6 });
  assert.deepEqual(sent, []);
});
