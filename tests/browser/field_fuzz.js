/**
 * Tries hostile values in each field of what links, files and storage can set. `fields` replaces one after the
 * other; `fuzz.begin` checks all of them, and shows some of the accepted ones in the page.
 */
globalThis.fuzz = (() => {
  const nested = () => {
    let value = [];
    for (let depth = 0; depth < 5000; depth += 1) value = [value];
    return value;
  };
  /** By name; functions, because some are large. */
  const HOSTILE = {
    billion: () => 1e9,
    huge: () => 1e308,
    unsafe: () => 2 ** 60,
    negative: () => -1,
    NaN: () => NaN,
    infinite: () => Infinity,
    fraction: () => 0.5,
    tiny: () => 5e-324,
    text: () => "x",
    long: () => "x".repeat(1e6),
    null: () => null,
    missing: () => undefined,
    record: () => ({}),
    nested,
    million: () => new Array(1e6).fill(1),
    holes: () => new Array(4e9),
  };

  /** The paths of all values: of long lists and arrays, the first one. */
  function paths(value, path = []) {
    if (typeof value !== "object" || value === null) return [path];
    if (ArrayBuffer.isView(value) && !(value instanceof Float64Array)) return [path];
    const names =
      Array.isArray(value) || ArrayBuffer.isView(value)
        ? ["0"].slice(0, value.length)
        : Object.keys(value);
    return [path, ...names.flatMap((name) => paths(value[name], [...path, name]))];
  }

  /** A copy in which one value is another. */
  function replaced(value, [name, ...rest], other) {
    if (name === undefined) return other;
    const copy = Array.isArray(value) || ArrayBuffer.isView(value) ? value.slice() : { ...value };
    const isHeld = ArrayBuffer.isView(copy) && typeof other !== "number";
    copy[name] = isHeld ? NaN : replaced(value[name], rest, other);
    return copy;
  }

  const STEPS = [1, 2, 3];
  const doubles = () => Float64Array.of(0.5, 0.4, 0.3);
  const program = { exampleId: "spiral", source: "print(1)", began: 1.7e12 };
  const branch = { number: 1, step: 2 };
  const details = {
    devices: 2,
    micro_batches: 4,
    schedule: "1f1b",
    chunks: 2,
    collective: "auto",
    staleness: null,
  };
  const lab = { strategy: "sync", ...details, every: 8, delays: [0, 5], steps: 200 };
  const error = { type: "E", message: "m", line: 1, op: null };
  const row = { epoch: 1, step: 3, loss: 0.3, accuracy: 0.9, testLoss: null, testAccuracy: null };
  const settings = [{ step: 2, name: "learning_rate", before: 0.1, after: 0.01 }];
  const link = {
    version: 1,
    exampleId: "spiral",
    title: "Spiral",
    code: "a = 1\nb = 2\n",
    device: "cpu",
    view: "training",
    picture: "graph",
    lab,
    hidden: ["gallery"],
    locked: [[1, 1]],
    expected: {
      losses: [
        [1, 0.5],
        [2, 0.4],
      ],
      steps: 3,
      device: "cpu:0",
    },
  };
  const pictures = {
    shows: "pictures",
    title: "P",
    count: 1,
    height: 2,
    width: 2,
    channels: 1,
    low: 0,
    high: 1,
    scale: "grey",
    note: "",
    pixels: new Uint8Array(4),
  };
  const bytes = new Uint8Array(doubles().buffer);
  const plot = {
    shows: "plot",
    title: "L",
    style: "line",
    x_label: "x",
    y_label: "y",
    series: [{ label: "a", x: bytes, y: bytes, total: 3 }],
  };
  const node = (name) => ({
    name,
    op: "add",
    scope: "train/dense",
    phase: "forward",
    device: "cpu:0",
    shape: [2, null],
    dtype: "float32",
    line: 1,
    attrs: { axis: "0" },
  });
  const track = { device: "cpu:0", kinds: { forward: 1 }, idle: 0.1, sent: 5, received: 5 };
  const trace = {
    steps: 1,
    bubble_formula: 0.5,
    memory: { "cpu:0": 100 },
    timeline: {
      steps: 1,
      seconds: 0.1,
      bubble: 0.2,
      communication: 0.1,
      bytes_moved: 5,
      devices: [track],
    },
    events: [{ name: "n", device: "cpu:0", start: 0, end: 5, kind: "forward", bytes: 8 }],
  };
  /** A value of each part with all of its fields. */
  const TEMPLATES = {
    code: "print(1)",
    choices: {
      exampleId: "spiral",
      device: "cpu",
      view: "lab",
      pictures: [["spiral", "graph"]],
      graphColours: "phase",
      lab,
    },
    run: {
      state: "done",
      program,
      error,
      branch: { ...branch, began: 1.7e12 },
      fit: {
        epochs: 1,
        steps_per_epoch: 3,
        total_steps: 3,
        batch_size: 4,
        metrics: ["accuracy"],
        device: "cpu:0",
        adapter: null,
        parameters: 10,
      },
      progress: { ...row, stepsPerSecond: 10, seconds: 1, eta: null },
      epochs: [row],
    },
    curves: {
      steps: Float64Array.from(STEPS),
      stride: 1,
      inLast: 1,
      trends: Float64Array.of(0.3, 3, 0.9, 3),
      series: Object.fromEntries(
        ["loss", "trendLoss", "accuracy", "trendAccuracy", "testLoss", "testAccuracy"].map(
          (name) => [name, doubles()],
        ),
      ),
    },
    losses: {
      landmarks: [
        [1, 0.5],
        [2, 0.4],
      ],
      shared: link,
      settings,
    },
    locks: [{ exampleId: "spiral", lines: [[1, 1]], isHeld: true }],
    runs: [
      {
        id: 1.7e12,
        number: 1,
        exampleId: "spiral",
        title: "Spiral",
        code: "a",
        device: "cpu",
        ranOn: "CPU",
        lab,
        state: "done",
        step: 3,
        totalSteps: 3,
        seconds: 1,
        loss: 0.3,
        accuracy: 0.9,
        testAccuracy: 0.8,
        isPinned: false,
        colour: 0,
        isEdited: true,
        steps: STEPS,
        losses: [0.5, null, 0.3],
        settings,
        hasEarlierFits: false,
        parameters: 10,
        epochs: 1,
        trainAccuracy: 0.9,
        testLoss: 0.4,
        branch,
      },
    ],
    output: [
      { text: "picture", stream: "stdout", figure: pictures },
      { text: "plot", stream: "stdout", figure: plot },
    ],
    graph: {
      name: "step",
      nodes: [node("a"), node("b")],
      edges: [{ from: "a", to: "b", output: 0, control: false }],
    },
    lab: [
      {
        id: 1,
        colour: 0,
        title: "Data parallel",
        isSingle: false,
        devices: 2,
        state: "done",
        program: "a",
        example: "s",
        device: "cpu",
        isHeldUp: false,
        msPerStep: 5,
        loss: 0.3,
        steps: STEPS,
        losses: [0.5, null, 0.3],
        trace,
        report: {
          updates: { "cpu:0": 1 },
          staleness: { 0: 1 },
          mean_staleness: 1,
          lost: { "cpu:1": "x" },
          overlap: "x",
        },
      },
    ],
    checkpoint: {
      bytes: new Uint8Array(8),
      step: 3,
      totalSteps: 9,
      epoch: 1,
      epochs: 3,
      parameters: 10,
      finished: false,
      at: 1.7e12,
      program,
      options: { devices: 2, lab },
    },
    link,
    summary: {
      id: "a1",
      version: 1,
      created: 1.7e12,
      saved: 1.7e12,
      touched: true,
      name: "n",
      exampleId: "spiral",
      title: "S",
      edited: true,
      state: "done",
      step: 3,
      totalSteps: 9,
    },
    data: { kind: "images", shape: [2, 2], train: 4, test: 2, classes: ["a"], columns: [] },
    model: {
      kind: "model",
      parameters: 4,
      layers: 2,
      compiled: true,
      inputs: [{ shape: [null, 2], dtype: "float32" }],
      outputs: [{ shape: [null, 2], dtype: "float32" }],
    },
  };
  /** The tab that shows a part. */
  const VIEWS = {
    graph: "graph",
    runs: "runs",
    lab: "lab",
    choices: "lab",
    checkpoint: "lab",
    link: "lab",
  };

  /** In an order that depends on the seed. */
  function shuffled(list, seed) {
    const places = list.map((value, at) => ({
      value,
      at: (Math.sin(seed + at * 12.9898) * 43758.5453) % 1,
    }));
    return places.sort((a, b) => a.at - b.at).map(({ value }) => value);
  }

  async function start(seed, most) {
    const { SHAPES, SHARED, SUMMARY } = await import("/static/js/session/session-shapes.js");
    const { isAbout, isModelAbout } = await import("/static/js/own-data/user-data.js");
    const { PARTS } = await import("/static/js/session/session-parts.js");
    const { showProgram } = await import("/static/js/sharing/sharing.js");
    const store = await import("/static/js/state/store.js");
    const CHECKS = {
      ...SHAPES,
      link: SHARED,
      summary: SUMMARY,
      data: isAbout,
      model: isModelAbout,
    };
    const { outcome } = globalThis.fuzz;
    for (const part of Object.keys(CHECKS))
      if (!TEMPLATES[part]) outcome.problems.push(`no template of ${part}`);
    const complain = ({ message, reason }) =>
      outcome.problems.push(`${outcome.last}: ${message ?? reason}`);
    addEventListener("error", complain);
    addEventListener("unhandledrejection", complain);

    const accepted = [];
    for (const [part, template] of Object.entries(TEMPLATES)) {
      if (!CHECKS[part](template)) outcome.problems.push(`the template of ${part} is refused`);
      for (const path of paths(template)) {
        outcome.fields += 1;
        for (const [kind, make] of Object.entries(HOSTILE)) {
          outcome.last = `${[part, ...path].join(".")} = ${kind}`;
          const value = replaced(template, path, make());
          outcome.cases += 1;
          if (CHECKS[part](value)) accepted.push({ part, value, path, kind, name: outcome.last });
        }
      }
    }
    outcome.accepted = accepted.map(({ name }) => name);

    const seen = (part, value) =>
      part === "link" ? showProgram(value) : PARTS[part].restore(value);
    const shown = accepted.filter(({ part }) => part === "link" || Object.hasOwn(PARTS, part));
    for (const { part, value, path, kind, name } of shuffled(shown, seed).slice(0, most)) {
      outcome.last = name;
      store.note("");
      seen(part, value);
      store.view.value = VIEWS[part] ?? "training";
      store.outputOpen.value = true;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      outcome.shown += 1;
      const [root, setting] = path;
      const isUsed = ["choices", "link"].includes(part) && root === "lab" && setting in lab;
      if (isUsed && typeof lab[setting] !== "string") {
        const changed = String(store.labSettings.value[setting]) !== String(value.lab[setting]);
        if (changed && !store.notice.value)
          outcome.problems.push(`${name}: brought to the default without a word`);
        if (
          !changed &&
          ["billion", "huge", "negative", "NaN", "infinite", "fraction"].includes(kind)
        )
          outcome.problems.push(`${name}: taken as it is`);
      }
      seen(part === "link" ? "choices" : part, TEMPLATES[part === "link" ? "choices" : part]);
    }
  }

  /* global fuzz */
  /** Try all; `outcome.isDone` in the end. */
  const begin = (seed, most) =>
    start(seed, most)
      .catch(({ message }) => fuzz.outcome.problems.push(`${fuzz.outcome.last}: ${message}`))
      .finally(() => (fuzz.outcome.isDone = true));

  return {
    begin,
    outcome: { fields: 0, cases: 0, shown: 0, accepted: [], problems: [], last: "", isDone: false },
  };
})();
