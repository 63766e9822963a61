import assert from "node:assert/strict";
import test from "node:test";
import { LoadError } from "../../static/engine/downloads.js";
import { LoadReport } from "../../static/engine/load-report.js";

/** A report whose clock the test moves, and its messages. */
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
    { received: 1e6, total: 0, seconds: null },
    { received: 2e6, total: 6e6, seconds: null },
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
  assert.deepEqual(sent.at(-1), { received: 1e6, total: 4e6, seconds: null });
});

test("files that arrive quickly are not mentioned", (t) => {
  const { clock, sent, report } = begin(t);
  const { progress } = report.options("/code");
  clock.now = 500;
  progress({ received: 4e6, total: 4e6 });
  assert.deepEqual(sent, []);
});

test("the time that is left follows the line without jumps", (t) => {
  const { clock, sent, report } = begin(t);
  const { progress } = report.options("/code");
  const total = 8e6;
  let received = 0;
  const go = (seconds, rate) => {
    for (let tick = 0; tick < 4 * seconds; tick++) {
      clock.now += 250;
      received += rate / 4;
      progress({ received, total });
    }
  };
  go(1, 0.5e6);
  assert.deepEqual(
    sent.map(({ seconds }) => seconds),
    [null],
  );
  go(3, 0.5e6);
  assert.equal(sent.at(-1).seconds, 12);
  go(2, 2e6); // quicker: less time is left, bit by bit
  const left = sent.map(({ seconds }) => seconds).filter((seconds) => seconds !== null);
  left.slice(1).forEach((seconds, index) => {
    const change = left[index] - seconds;
    assert.ok(change >= 0 && change < 2.5, `${left[index]} s, then ${seconds} s`);
  });
  assert.ok(left.at(-1) < left[0] - 6, `${left}`);
  progress({ received: 0, total }); // another try
  clock.now += 250;
  progress({ received: 1e5, total });
  assert.equal(sent.at(-1).seconds, null);
  clock.now += 60_000;
  progress({ received: 1e5, total });
  assert.equal(sent.at(-1).seconds, null);
});

test("who comes later is told what is wrong, but not that all is well", () => {
  const sent = [];
  const report = new LoadReport(({ problem }) => sent.push(problem));
  report.repeat();
  assert.deepEqual(sent, []);
  const { problem } = report.options("/code");
  problem(new LoadError("code: no answer.", { code: "silent" }), 4000);
  report.repeat();
  assert.deepEqual(
    sent.map(({ message, seconds }) => [message, seconds]),
    Array(2).fill(["code: no answer.", 4]),
  );
});
