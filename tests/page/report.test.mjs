import assert from "node:assert/strict";
import test from "node:test";
import { report } from "../../static/js/panels/runs/report.js";
import { changeInWords, changeNear } from "../../static/js/state/setting-changes.js";

const HOSTILE = `print("</script></pre></style><script>alert(1)</script><img src=x onerror=alert(1)>")\n# & ' " \u0000 \u001b`;

/** @param {object} [fields] */
const run = (fields = {}) => ({
  id: Date.UTC(2026, 0, 2),
  number: 1,
  exampleId: "a",
  title: "A",
  code: "pg.reset_default_graph(seed=7)\nrate = 0.1",
  device: "auto",
  ranOn: "CPU",
  lab: null,
  state: "done",
  step: 3,
  totalSteps: 3,
  seconds: 1,
  loss: 0.25,
  accuracy: 0.5,
  testAccuracy: 0.875,
  isPinned: false,
  colour: 0,
  steps: [1, 2, 3],
  losses: [1, 0.5, 0.25],
  settings: [],
  ...fields,
});

/** @param {string} html */
const unescaped = (html) =>
  html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

test("a report has the numbers, the settings and the program of its run", () => {
  const before = run({ id: 1, code: "pg.reset_default_graph(seed=7)\nrate = 0.5" });
  const changes = [
    { step: 2, name: "learning rate", before: Math.fround(0.1), after: Math.fround(0.01) },
  ];
  const html = unescaped(
    report([run({ number: 2, settings: changes })], [before, run({ number: 2 })], {
      playgrad: "1.2",
    }),
  );
  for (const text of [
    "Run 2: A",
    "playgrad 1.2",
    "CPU (chosen: auto)",
    "0.2500",
    "87.50%",
    "rate 0.5 → 0.1",
    "done after 3 of 3 steps in 1 s",
    "<td>7</td>",
    "learning rate 0.1 → 0.01 at step 2",
    "pg.reset_default_graph(seed=7)",
    '<td class="number">2</td><td class="number">0.5000</td>',
  ])
    assert.ok(html.includes(text), text);
  assert.equal(html.match(/class="mark"/g)?.length, 1);
});

test("all contents of a program are escaped as text", () => {
  const hostile = run({
    code: HOSTILE,
    title: HOSTILE,
    ranOn: HOSTILE,
    lab: { strategy: HOSTILE },
    settings: [{ step: 1, name: HOSTILE, before: 0, after: 1 }],
  });
  const html = report([hostile, run({ id: 5, number: 2 })], [run({ id: 2 }), hostile], {
    playgrad: HOSTILE,
  });
  const tags = new Set(
    [...html.matchAll(/<\/?([a-z!]\w*)/gi)].map(([, name]) => name.toLowerCase()),
  );
  for (const name of ["script", "img", "iframe", "object", "link"])
    assert.ok(!tags.has(name), name);
  assert.equal(html.match(/<\/style>/g)?.length, 1);
  assert.equal(html.match(/<\/pre>/g)?.length, 2);
  assert.ok(!/onerror=alert\(1\)>/.test(html));
  assert.ok(!/[\u0000\u001b]/.test(html));
  assert.ok(unescaped(html).includes(HOSTILE.replace(/[\u0000\u001b]/g, "\uFFFD")));
});

test("a report loads nothing", () => {
  const html = report([run(), run({ id: 3, number: 2 })], [run(), run({ id: 3, number: 2 })]);
  assert.ok(!/\s(?:src|href)\s*=|url\(|@import/i.test(html.replace(/<pre>[^]*?<\/pre>/g, "")));
  assert.ok(html.includes("default-src 'none'"));
});

test("runs without losses have a report, too", () => {
  const html = report(
    [run({ steps: [], losses: [], loss: null, accuracy: null, testAccuracy: null })],
    [],
  );
  assert.ok(!html.includes("NaN") && !html.includes("undefined") && !html.includes("null"));
});

test("the changes of many runs are compared in one chart", () => {
  const html = report([run(), run({ id: 3, number: 2, losses: [null, 2, 1] })], [run()]);
  assert.equal(html.match(/<h2>/g)?.length, 2);
  assert.ok(/aria-label="Loss by step: run 1 ends at 0.2500, run 2 ends at 0.2500"/.test(html));
});

test("a change is told where the pointer is near it", () => {
  const change = {
    step: 412,
    name: "learning rate",
    before: Math.fround(0.1),
    after: Math.fround(1e-5),
  };
  assert.equal(changeInWords(change), "learning rate 0.1 → 0.00001 at step 412");
  const steps = Array.from({ length: 1000 }, (_, at) => at + 1);
  assert.equal(changeNear([change], steps, 411), change);
  assert.equal(changeNear([change], steps, 420), change);
  assert.equal(changeNear([change], steps, 500), undefined);
});
