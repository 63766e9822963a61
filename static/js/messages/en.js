/**
 * Every text of the page in English, by part of the page; a text with values in it is a function. A
 * translation has the same names and functions: `Messages` is the type of both.
 *
 * What Python prints, and the errors of playgrad itself, are English in every language.
 */

import { GPU_REASONS } from "../../engine/gpu-reasons.js";
import { DATA_SETS, LAYER_TEXTS, OPTIMIZER_TEXTS } from "../records/texts.js";
import { count } from "../words/thousands.js";

/** "1 step", "2,000 steps". @param {number} number @param {string} one @param {string} [many] */
export const plural = (/** @type {number} */ number, /** @type {string} */ one, many = `${one}s`) =>
  `${count(number)} ${number === 1 ? one : many}`;

/** @typedef {import("../editor/line-locks.js").LineRange} LineRange */

/** "line 3", "lines 1, 4–7 and 9". @param {LineRange[]} ranges */
function lines(ranges) {
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  const last = texts.pop();
  return `${isOneLine(ranges) ? "line" : "lines"} ${texts.length > 0 ? `${texts.join(", ")} and ${last}` : last}`;
}

/** @param {LineRange[]} ranges */
const isOneLine = (ranges) => ranges.length === 1 && ranges[0][0] === ranges[0][1];

/** @param {string} text */
const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {string[]} names */
const quoted = (names) => names.map((name) => `“${name}”`).join(", ");

/** Who has moved. @param {string | null} who the name of the stones; null for the visitor, "" for the other side @param {boolean} hasNetwork */
function mover(who, hasNetwork) {
  if (who === null) return "You";
  return who === "" ? (hasNetwork ? "The network" : "The other side") : capitalized(who);
}

export const en = {
  header: {
    example: "Example",
    inPlaceOf: (/** @type {string} */ title, /** @type {string} */ example) =>
      `${title} (in place of: ${example})`,
    docs: "Docs",
    useTheme: { dark: "Use the dark theme", light: "Use the light theme" },
    language: "Language",
    more: "More",
    moreAbout: "Examples, language, theme, files and documentation",
    languageFailed: (/** @type {string} */ reason) => `The language could not be loaded: ${reason}`,
  },
  panels: {
    training: "Watch",
    inspect: "Inspect",
    graph: "Graph",
    runs: "Runs",
    shrink: "Shrink",
    lab: "Lab",
    build: "Build",
    more: "More",
    moreOf: (/** @type {string} */ open) => (open ? `More panels: ${open} is open` : "More panels"),
    label: "Views",
    parts: "Parts of the page",
    skip: "Skip",
    skipTo: { build: "Skip to the network", panels: "Skip to its results" },
  },
  inspect: {
    title: "Inspect",
    views: "Views of the network",
    empty:
      "Train a network, and look inside it here. If your program runs sessions of its own, Graph shows their values.",
    asking: "Looking…",
    problem: (/** @type {string} */ message) => `This cannot be shown: ${message}`,
  },
  inspectHistograms: {
    name: "Histograms",
    about:
      "Each ridge is a histogram of one moment: how many values are of which size. The latest is in front.",
    recording:
      "On 64 samples, from the first step on. While this view is open, more steps are recorded, in at most 5% of the " +
      "training's time.",
    asking: "Looking at the layers…",
    alone: (/** @type {string} */ step) =>
      `The state after step ${step}. Nothing was kept of earlier steps.`,
    missed: (/** @type {string} */ step) =>
      `Recorded from step ${step} on. Nothing was kept of earlier steps.`,
    kinds: { weights: "Weights", gradients: "Gradients", activations: "Activations" },
    ratios: "Update ratio",
    ratiosAbout:
      "How much of a layer's weights one step changes. About 0.001, the dashed line, is healthy: far above it, " +
      "training is rough; far below it, hardly anything is learnt.",
    guideline: "0.001",
    sizes: "Mean size of the weights",
    at: (/** @type {string} */ name, /** @type {string} */ step) => `${name}, step ${step}`,
    picture: (/** @type {string} */ kind, /** @type {string} */ layer) =>
      `${kind} of ${layer}. Arrow keys move through steps and values.`,
    bin: (
      /** @type {string} */ step,
      /** @type {string} */ low,
      /** @type {string} */ high,
      /** @type {string} */ many,
    ) => `Step ${step}: ${many} from ${low} to ${high}`,
    strays: (/** @type {string} */ many) => `${many} NaN or infinite`,
    summary: (/** @type {string} */ size, /** @type {string} */ spread) =>
      `mean size ${size}, standard deviation ${spread}`,
    leftOut: (/** @type {number} */ many) =>
      many === 1 ? "One more layer is not shown." : `${many} more layers are not shown.`,
    table: "Table",
    columns: {
      layer: "Layer",
      step: "Step",
      ratio: "Update ratio",
      kind: "Values",
      size: "Mean size",
      spread: "Standard deviation",
      strays: "NaN or infinite",
    },
    reasons: {
      untrained: "There are no histograms of a network that fit() has not trained.",
      data: "There are histograms of networks with one input and one output that were trained with arrays.",
      large: "This network is too large to be inspected while it is trained.",
      restored: "The network was restored without its program. Run it, and look again.",
    },
  },
  inspectLayers: {
    title: "Layers",
    name: "Layers",
    layers: "The layers of the network",
    layerPlace: (/** @type {number} */ number, /** @type {number} */ all) =>
      `Layer ${number} of ${all}`,
    layerName: (/** @type {string} */ name, /** @type {string} */ type) => `${name}, ${type}`,
    layerHint:
      "The layer’s line in Python and its block are marked. Click another line or block to see its layer.",
    parameters: (/** @type {number} */ parameters) =>
      `${count(parameters)} ${parameters === 1 ? "weight" : "weights"}`,
    weightsOf: (/** @type {string} */ layer) => `Weights of ${layer}`,
    noWeights: "This layer has no weights.",
    numbers: {
      mean: "mean",
      deviation: "deviation",
      smallest: "smallest",
      largest: "largest",
      norm: "norm",
      zeros: "zeros",
    },
    filter: (
      /** @type {number} */ unit,
      /** @type {number} */ input,
      /** @type {number} */ inputs,
    ) =>
      inputs > 1 ? `Weights of unit ${unit} for input channel ${input}` : `Weights of unit ${unit}`,
    matrix: (/** @type {string} */ name) => `${name}: a column for each unit, a row for each input`,
    scale: (/** @type {string} */ largest) =>
      `Blue is negative, orange positive; the strongest colour is ±${largest}.`,
    strays: (/** @type {number} */ many, /** @type {number} */ all) =>
      many === all
        ? "All numbers shown are NaN or infinite, and have no colour."
        : `${count(many)} of the ${count(all)} numbers shown ${many === 1 ? "is NaN or infinite, and has" : "are NaN or infinite, and have"} no colour.`,
    sampled: (
      /** @type {number} */ units,
      /** @type {number} */ allUnits,
      /** @type {number} */ inputs,
      /** @type {number} */ allInputs,
    ) =>
      `Too large to show whole: these are ${count(units)} of ${count(allUnits)} units and ${count(inputs)} of ${count(allInputs)} inputs, evenly spread.`,
    asTable: "As a table",
    unitColumn: "Unit",
    norm: "Norm of its weights",
    meanColumn: "Mean",
    changeColumn: "Change",
    activationsOf: (/** @type {string} */ layer) => `Activations of ${layer}`,
    unitsOf: (/** @type {string} */ layer) => `Units of ${layer}`,
    silenceHint:
      "Click a unit to silence it, or to give it another factor: for looking only. The weights stay as they are.",
    showChange: "Show only the change",
    unit: (/** @type {number} */ unit, /** @type {string} */ value, /** @type {boolean} */ isMap) =>
      `Unit ${unit}: ${value}${isMap ? " on average" : ""}`,
    someUnits: (/** @type {number} */ shown, /** @type {number} */ all) =>
      `These are ${count(shown)} of ${count(all)} units, evenly spread.`,
    noSample:
      "Activations are shown for networks with one input and one output, if the program has an array whose samples " +
      "have the shape of the input.",
    drawing: "The drawn digit",
    sample: (
      /** @type {number} */ number,
      /** @type {number} */ all,
      /** @type {boolean | null} */ isTest,
    ) =>
      `${isTest === null ? "Sample" : isTest ? "Test sample" : "Training sample"} ${count(number)} of ${count(all)}`,
    target: "Target",
    predicted: "Predicted",
    predictedBefore: "Before the change",
    previous: "Previous",
    next: "Next",
    random: "Random",
    original: "Original",
    resetSample: "Undo the edits",
    pixels: "Pixels of the sample",
    pixelHint:
      "Click a pixel, or go to it with the arrow keys and press Space: it becomes dark or bright. Drag to paint.",
    pixel: (/** @type {number} */ row, /** @type {number} */ column) =>
      `Row ${row}, column ${column}`,
    channels: ["red", "green", "blue"],
    pixelValue: "value",
    rowHint: "Change a number, and see the effect in the network.",
    valuesLeft: (/** @type {number} */ values) =>
      `${count(values)} more ${values === 1 ? "value is" : "values are"} not shown.`,
    was: (/** @type {string} */ value) => `was ${value}`,
    travel: "How the difference travels",
    travelHint: "The norm of the change over the norm of the original, for each layer’s result.",
    travelFromZero: "from 0",
    input: "Input",
    outputs: "Outputs",
    output: "Output",
    changed: "Changed",
    scaledUnits: "Silenced and scaled units",
    scaledHint: "A factor multiplies the output of a unit: 0 silences it, 1 leaves it unchanged.",
    unitOf: (/** @type {string} */ layer, /** @type {number} */ unit) => `Unit ${unit} of ${layer}`,
    factorSlider: (/** @type {string} */ unit) => `Factor of ${unit}`,
    scaledBy: (/** @type {string} */ factor) => `, scaled by ${factor}`,
    onSamples: (/** @type {number} */ samples) => `On ${count(samples)} samples`,
    unsilence: "Undo all factors",
  },
  sampleNumber: {
    label: (/** @type {number} */ last) => `Number of the sample, 0 to ${last}`,
    refused: (/** @type {string} */ text, /** @type {number} */ all) =>
      `${text === "" ? "That is not a number" : `There is no sample ${text}`}. ` +
      (all === 1
        ? "The only sample has the number 0."
        : `The ${count(all)} samples have the numbers 0 to ${count(all - 1)}.`),
  },
  inspectSamples: {
    title: "Samples",
    none: {
      restored:
        "The model was restored without its data. Press Run or Resume: its samples are shown here.",
      data: "This is for networks with one input and one output, of which the page keeps some samples when they are trained.",
      program:
        "The program has no data for this network. Define an array whose samples have the shape of its input, such as " +
        "x, and one with their targets, such as y, and run the program again.",
      loss:
        "How wrong a prediction is depends on the loss, and this network has none. Call its compile() with a loss, and run " +
        "the program again.",
      targets:
        "The program has samples for this network, but no targets to compare its predictions with. Define an array " +
        "whose name begins with y, label, target or class, with one target for each sample, and run the program again.",
      outputs:
        "This is for networks that predict one class or one number for each sample. This one predicts something " +
        "else: several labels or numbers, or a sequence.",
      layers: "No layer of this network has values to show.",
    },
    samples: (
      /** @type {number} */ shown,
      /** @type {number} */ all,
      /** @type {boolean | null} */ tested,
    ) =>
      `${count(shown)}${shown < all ? ` of the ${count(all)}` : ""} ${tested === null ? "" : tested ? "test " : "training "}${all === 1 ? "sample" : "samples"}`,
    rightOf: (
      /** @type {string} */ right,
      /** @type {string} */ samples,
      /** @type {string} */ share,
    ) => `${samples}: ${right} right, ${share}. A row is a true class, a column a predicted one.`,
    notCounted: (/** @type {number} */ samples) =>
      `${count(samples)} ${samples === 1 ? "is" : "are"} in no cell: the network gives no numbers for ${samples === 1 ? "it" : "them"}.`,
    manyClasses: (/** @type {number} */ classes) =>
      `A table of ${count(classes)} classes would be too large to read. The hardest samples are below.`,
    cell: (
      /** @type {string} */ truth,
      /** @type {string} */ predicted,
      /** @type {number} */ samples,
    ) =>
      `True ${truth}, predicted ${predicted}: ${count(samples)} ${samples === 1 ? "sample" : "samples"}`,
    press: "Press a cell to see its samples.",
    matrix: "Confusion matrix",
    hardestTitle: "Hardest samples",
    anySample: "Any sample",
    number: (/** @type {number} */ number) => `No. ${number}`,
    numberColumn: "number",
    look: "Show it in Layers",
    lookAt: (/** @type {number} */ number) => `No. ${number}: show it in Layers`,
    hardest: "The hardest samples: the ones with the highest loss",
    largest: "The largest errors: the samples with the highest loss",
    error: (/** @type {string} */ error, /** @type {string} */ samples) =>
      `Mean absolute error ${error}, on ${samples}.`,
    more: (/** @type {number} */ next, /** @type {number} */ all) =>
      `${count(next)} more of ${count(all)}`,
    truth: "true",
    predicted: "predicted",
    probability: "probability",
    loss: "loss",
    right: "right",
    wrong: "wrong",
    noClass: "nothing",
    column: (/** @type {number} */ number) => `input ${number}`,
    columnsLeft: (/** @type {number} */ columns) =>
      `${count(columns)} more ${columns === 1 ? "input is" : "inputs are"} not shown.`,
  },
  inspectProjection: {
    title: "Projection",
    layer: "Values of",
    layerOf: (/** @type {string} */ name, /** @type {number} */ size) => `${name} (${count(size)})`,
    explained: (
      /** @type {string} */ both,
      /** @type {string} */ first,
      /** @type {string} */ second,
    ) =>
      `Two directions, found by principal component analysis, have ${both} of the variance (${first} and ${second}).`,
    shown: (/** @type {string} */ samples) => `The points are ${samples}.`,
    wrong: (/** @type {number} */ points) =>
      points === 0
        ? "All are predicted right."
        : `The ${count(points)} with a ring ${points === 1 ? "is" : "are"} predicted wrong.`,
    leftOut: (/** @type {number} */ points) =>
      `${count(points)} ${points === 1 ? "has" : "have"} values that are not finite and ${points === 1 ? "is" : "are"} left out.`,
    tooFew: (/** @type {number} */ finite, /** @type {number} */ all) =>
      `A projection needs two samples with finite values; of ${count(all)} here, ${count(finite)} ${finite === 1 ? "has" : "have"} them.`,
    method: "Method",
    methods: { pca: "Principal components", umap: "UMAP" },
    umap: (/** @type {number} */ dimensions, /** @type {string} */ part) =>
      `UMAP keeps neighbours together: samples that are close in ${count(dimensions)} principal components (${part} of the variance) are close here. Sizes of groups and distances between them mean little.`,
    neighbours: "Neighbours",
    another: "Another layout",
    anotherAbout: "Begin with other random numbers: a pattern that stays is in the data",
    stale: "The network has learned on since.",
    update: "Update",
    computing: "Computing",
    cancel: "Cancel",
    cancelled: "Cancelled.",
    compute: "Compute again",
    umapFailed: (/** @type {string} */ problem) => `This could not be computed: ${problem}.`,
    noLayers: "No layer of this network gives each sample a fixed number of values to project.",
    picture: (/** @type {string} */ layer, /** @type {number} */ points) =>
      `Projection of ${layer}: ${count(points)} samples as points.`,
    keys: "Arrow keys go from point to point.",
    choose: "Point at a sample, or move to one with the arrow keys, to see it here.",
    table: "Table of values",
    sample: "sample",
  },
  inspectAttention: {
    title: "Attention",
    none: {
      restored:
        "The model was restored without its program and its data. Press Run or Resume: its attention is shown here.",
      data: "This is for networks with one input and one output, of which the page keeps some samples when they are trained.",
      program:
        "The program has no data for this network. Define an array whose samples have the shape of its input, such as " +
        "x, and run the program again.",
      attention:
        "This network has no attention. nn.MultiHeadAttention, nn.TransformerEncoder and nn.TransformerDecoder have it.",
    },
    layer: "Layer",
    layerOf: (/** @type {string} */ name, /** @type {number} */ heads) =>
      `${name} (${count(heads)} ${heads === 1 ? "head" : "heads"})`,
    about:
      "Each row is a query: the colours tell how its attention is spread over the keys, the columns. A row sums to 100%.",
    cut: (
      /** @type {number} */ queries,
      /** @type {number} */ allQueries,
      /** @type {number} */ keys,
      /** @type {number} */ allKeys,
    ) =>
      `Shown are the first ${count(queries)} of ${count(allQueries)} queries and ${count(keys)} of ${count(allKeys)} keys; the rest of a row is not visible.`,
    someHeads: (/** @type {number} */ shown, /** @type {number} */ all) =>
      `These are the first ${count(shown)} of ${count(all)} heads.`,
    heads: "Heads",
    head: (/** @type {number} */ head) => `Head ${head}`,
    picture: (/** @type {string} */ layer, /** @type {number} */ head) =>
      `Attention weights of ${layer}, head ${head}.`,
    keys: "Arrow keys go from square to square.",
    choose: "Point at a square, or move to one with the arrow keys, to read its weight.",
    position: (/** @type {number} */ position, /** @type {string | null} */ token) =>
      token === null ? `position ${position}` : `position ${position} (${token})`,
    reading: (
      /** @type {string} */ query,
      /** @type {string} */ key,
      /** @type {string} */ weight,
    ) => `From ${query} to ${key}: ${weight}`,
    scale: (/** @type {string} */ largest) =>
      `The strongest colour is ${largest}, the largest weight of all heads.`,
    table: "Table of weights",
    corner: "query",
  },
  inspectTrees: {
    title: "Trees",
    none: {
      fold: "This is for programs with a pg.Fold, whose samples are trees or other structures.",
      read: "The Fold of this program has not read samples yet.",
    },
    fold: "Fold",
    sample: (/** @type {number} */ sample, /** @type {number} */ samples) =>
      `sample ${count(sample)} of ${count(samples)}`,
    summary: (
      /** @type {number} */ calls,
      /** @type {number} */ samples,
      /** @type {number} */ steps,
    ) =>
      `${count(calls)} ${calls === 1 ? "call" : "calls"} of ${count(samples)} ${samples === 1 ? "sample" : "samples"}, ` +
      `joined to ${count(steps)}.`,
    about:
      "Depth 0 is computed first. In each row, equal calls of all samples are one call of the function. The tree is that of one sample.",
    onProcessor:
      "The processor computes these calls, also in a session on a GPU: how many are joined is known only when a step runs.",
    depth: (/** @type {number} */ depth) => `Depth ${depth}`,
    joined: (/** @type {string} */ kind, /** @type {number} */ calls) =>
      `${kind} × ${count(calls)}`,
    picture: (/** @type {number} */ calls, /** @type {number} */ depths) =>
      `Tree of ${count(calls)} calls in ${count(depths)} depths.`,
    call: (
      /** @type {string} */ kind,
      /** @type {number} */ depth,
      /** @type {string} */ numbers,
    ) => `${kind}, depth ${depth}${numbers && `: ${numbers}`}`,
    bars: "Joined calls of each depth",
    tooLarge: (/** @type {number} */ shown, /** @type {number} */ size) =>
      `The tree has ${count(size)} calls; the first ${count(shown)} are drawn.`,
    someSteps: (/** @type {number} */ shown, /** @type {number} */ steps) =>
      `The first ${count(shown)} of ${count(steps)} joined calls are listed.`,
    table: "Table of joined calls",
    columns: ["depth", "function", "calls"],
  },
  inspectNext: {
    title: "Next tokens",
    none: {
      restored:
        "The model was restored without its program and its data. Press Run or Resume: its expectations are shown here.",
      untrained:
        "The program has not trained this network. Once fit() has trained it, its expectations are shown here.",
      text: "This is for networks that write text: they predict the next token of a sequence, and the program has a pg.data.Vocabulary.",
    },
    text: (/** @type {"character" | "word"} */ unit, /** @type {number} */ least) =>
      `Text${least > 1 ? `, at least ${least} ${unit}s` : ""}`,
    own: "Your text",
    fromData: "Samples of the data",
    temperatureAbout:
      "Scores are divided by it before softmax: a low one favours the most probable token, a high one levels all",
    about: (/** @type {"character" | "word"} */ unit, /** @type {number} */ length) =>
      `Each ${unit} is shaded by the probability that the network gave it; a dotted line marks the ${unit}s that were not its first choice. The network sees the last ${count(length)} ${unit}s.`,
    summary: (
      /** @type {"character" | "word"} */ unit,
      /** @type {number} */ right,
      /** @type {number} */ all,
      /** @type {string} */ perplexity,
    ) =>
      `The ${unit} that came was the most probable in ${count(right)} of ${count(all)} cases; perplexity ${perplexity}.`,
    cut: (
      /** @type {"character" | "word"} */ unit,
      /** @type {number} */ shown,
      /** @type {number} */ all,
    ) => `Shown are the first ${count(shown)} of ${count(all)} ${unit}s.`,
    board: (/** @type {"character" | "word"} */ unit) =>
      `The ${unit}s of the text. Arrow keys go from one to the next.`,
    option: (
      /** @type {string} */ token,
      /** @type {string} */ chance,
      /** @type {number} */ rank,
    ) => `${token}: ${chance}, rank ${rank}`,
    end: "after the text",
    after: (/** @type {"character" | "word"} */ unit) => `Next ${unit} after`,
    came: (/** @type {string} */ token, /** @type {string} */ chance, /** @type {number} */ rank) =>
      `Then came “${token}”: ${chance}, ${rank === 1 ? "the most probable" : `rank ${rank}`}.`,
    nothingCame: "The text ends here.",
    this: "came",
    table: "Table of probabilities",
    columns: ["position", "token", "next", "probability", "rank", "most probable"],
  },
  commands: {
    section: "Run",
    group: "Commands",
    run: { label: "Run", about: "Run the code from the top" },
    pause: { label: "Pause", about: "Pause after the current batch" },
    resume: { label: "Resume", about: "Continue training" },
    step: {
      label: "Step",
      about: "Train one batch or one epoch, then pause; or show one operation of a step",
    },
    stop: { label: "Stop", about: "Stop the run; keep curves and weights" },
    reset: { label: "Reset", about: "Clear curves and weights; keep the code" },
    queued: "Queued",
    pending: { pause: "Pausing", stop: "Stopping", reset: "Resetting" },
    stepLength: "Length of a step",
    batch: "batch",
    epoch: "epoch",
    operation: "operation",
  },
  status: {
    states: {
      loading: "loading",
      ready: "ready",
      running: "running",
      paused: "paused",
      stopped: "stopped",
      done: "done",
      error: "error",
      diverged: "diverged",
    },
    unsupported: "Nothing can run in this browser. See below the code.",
    notStarted: "Python could not start.",
    stages: { python: "Starting Python…", library: "Loading the library…" },
    arrived: {
      some: (/** @type {string} */ megabytes) => `${megabytes} MB have arrived.`,
      part: (
        /** @type {string} */ received,
        /** @type {string} */ total,
        /** @type {string} */ left,
      ) => `${received} of ${total} MB${left && ` · about ${left}`}.`,
    },
    waits: "Your run starts when it is ready.",
    intents: {
      pause: "Pausing after this batch…",
      resume: "Resuming…",
      stop: "Stopping…",
      reset: "Resetting…",
    },
    noCode: "There is no code to run.",
    noGpu: (/** @type {string} */ problem) =>
      `Device GPU cannot be used: ${problem}. Choose Auto or CPU.`,
    startingDevices: (/** @type {string[]} */ names) => `Starting Python for ${names.join(", ")}…`,
    running: "Running your code…",
    loadingData: (
      /** @type {string} */ name,
      /** @type {number} */ received,
      /** @type {number} */ total,
    ) =>
      `The program waits for its data: ${name}, ${total ? `${received} of ${total} MB` : `${received} MB`} loaded…`,
    loadingPackages: (/** @type {number} */ received, /** @type {number} */ total) =>
      `Loading the Python packages that the program imports: ${total ? `${received} of ${total} MB` : `${received} MB`}…`,
    loadingOnnx: "Loading the part of playgrad for ONNX files…",
    loadingLibrary: "Loading the rest of Python's standard library, which the program imports…",
    training: (/** @type {number} */ parameters, /** @type {string} */ place) =>
      `Training ${count(parameters)} parameters on ${place}`,
    cpu: "the CPU",
    gpu: "the GPU",
    paused: {
      batch: "Paused. Step trains one batch.",
      epoch: "Paused. Step trains to the end of the epoch.",
      operation: "Paused. Step shows one operation of a training step.",
    },
    lost: "Paused, because the training is lost: see the doctor's findings. Resume continues.",
    pausedBefore: "Paused before the first batch.",
    stopped: "Stopped.",
    stoppedKept: "Stopped. The weights are kept.",
    diverged: (/** @type {string} */ from, /** @type {string} */ to) =>
      `The loss grew from ${from} to ${to}: the learning rate is probably too high.`,
    finished: "The code has finished.",
    trained: (/** @type {string} */ duration) => `Trained in ${duration}`,
    failed: "Something went wrong. See the error below the code.",
    failedBefore: "The last run ended with an error. Run starts it again.",
    idle: "Press Run to train the network.",
    resume: (/** @type {number} */ step, /** @type {number} */ total) =>
      `Continue from step ${count(step)} of ${count(total)}`,
    resumeShort: "Continue",
    resumeAbout: "Continue training from the kept weights (F8)",
    whole: "Show the whole message",
  },
  notes: {
    tryAgain: "Try again",
    tryAgainNow: "Try again now",
    saveCode: "Save the code",
    dismiss: "Dismiss",
    undo: "Undo",
    noData: (/** @type {string} */ name) =>
      `The program loads “${name}”, and this browser has no data of that name.`,
    noDataInLink:
      "A link contains no data: ask whoever sent it for the file, or bring data of your own.",
    addData: "Add data",
    noModel: (/** @type {string} */ name) =>
      `The program loads the model “${name}”, and this browser has no file of that name.`,
    addModel: "Add model",
    restarted: "Python did not stop in time, so it was restarted.",
    weightsKept: "The weights are kept.",
    promptGoesOn: "The code of the prompt does not stop. Stop ends the run, too.",
    cleared: "Curves and weights are cleared.",
    resuming: (/** @type {number} */ step, /** @type {number} */ total) =>
      `Resuming at step ${count(step)} of ${count(total)}.`,
    promptEnded: (/** @type {string} */ reason) => `Not executed to its end: ${reason}.`,
    forged: "The program posted a message as if it were playgrad. It was ignored.",
    reused:
      "No new Python could be started, perhaps because the server cannot be reached. " +
      "This run uses the one of the run before, with everything that was left in it.",
    restored: (/** @type {number} */ run) => `The code of run ${run} is in the editor.`,
  },
  progress: {
    label: "Training progress",
    left: (/** @type {number} */ percent, /** @type {string} */ duration) =>
      `${percent}%, ${duration} left`,
    epoch: "Epoch",
    step: "Step",
    numbers: "How well the network does",
    loss: "Batch loss",
    testAccuracy: "Test accuracy",
    testLoss: "Test loss",
    timeLeft: "Time left",
    batchAccuracy: "Batch accuracy",
    rate: "Steps/s",
  },
  devices: {
    device: "Device",
    about: "The device to train on, unless the code chooses one",
    choices: { auto: "Auto", gpu: "GPU", cpu: "CPU" },
    noGpuFound: "GPU (none found)",
    tryAgain: "Retry GPU",
    looking: "Looking for a GPU…",
    noWebGpu: "no WebGPU",
    noGpu: "no GPU",
    noHardware: "no hardware GPU",
    software: "software",
    mixed: "mixed precision (f16)",
    runsOn: (/** @type {string} */ name, /** @type {string} */ remark) =>
      `Runs on ${name}${remark && `, ${remark}`}`,
    adapter: (/** @type {string} */ name) => `WebGPU adapter: ${name}`,
    vendor: (/** @type {string} */ vendor, /** @type {string} */ architecture) =>
      `Vendor: ${vendor} ${architecture}`,
    chosen: (/** @type {string} */ reason) => `Training on ${reason}`,
    /** As `choose_device` in Python says it. */
    because: {
      noGpu: "cpu:0, since there is no GPU here.",
      software: (/** @type {string} */ name) =>
        `cpu:0, since gpu:0 (${name}) is a software adapter, which computes on the same cores.`,
      hardware: (/** @type {string} */ name) =>
        `gpu:0 (${name}), since it is faster than the processor in a page.`,
    },
    isSoftware: "A software adapter: it runs on the processor, not on a graphics card.",
    buffer: (/** @type {number} */ mebibytes) => `Largest buffer: ${count(mebibytes)} MiB`,
    measured: (/** @type {string} */ kernels) => `Kernels (the fastest measured): ${kernels}`,
    notMeasured: (/** @type {string} */ kernels) =>
      `Kernels (defaults for this adapter): ${kernels}`,
    why: (/** @type {string} */ problem) => `No GPU: ${problem}.`,
    instead: "Training runs on the CPU with NumPy.",
    threads: (/** @type {number} */ count) => `CPU (SIMD, ${count} threads)`,
    inBrief: (/** @type {number} */ count) => `CPU, ${count} threads`,
    simd: "Training steps are compiled to WebAssembly with SIMD instructions.",
    compiledOperations: (/** @type {number} */ compiled, /** @type {number} */ all) =>
      `${count(compiled)} of ${count(all)} operations of this program are compiled${compiled < all ? "; Python computes the others" : ""}.`,
    notCompiled: {
      waits: "This program computes in Python: compiled code would not pay yet.",
      apart: "This program computes in Python, operation by operation.",
    },
    gone: (/** @type {string} */ problem) =>
      `The GPU does not come back: ${problem}. Programs run on the CPU now. ` +
      "To try the GPU again, press “Retry GPU”.",
    back: (/** @type {string} */ name) => `The GPU is there: ${name}. The next run can use it.`,
    stillGone: (/** @type {string} */ problem) =>
      `There is still no GPU: ${problem}. Training runs on the CPU.`,
    reasons: GPU_REASONS,
    workerEnded: "its worker has ended",
    lost: (/** @type {string} */ device, /** @type {string} */ message) =>
      `${device}: ${message} The next run opens a new device.`,
  },
  gallery: {
    title: "Begin with",
    then: "Choose one, then press Run.",
    byHand: "by hand",
    aboutSeconds: (/** @type {number} */ seconds) => `about ${seconds} s`,
    aboutMinutes: (/** @type {number} */ minutes) => `about ${minutes} min`,
    all: {
      title: "All examples",
      search: "Search the examples",
      close: "Close the gallery",
      kind: "Kind of example",
      kinds: {
        all: "All",
        points: "Points and tables",
        images: "Images",
        text: "Text and sequences",
        graphs: "Graphs and trees",
        games: "Games",
        devices: "Several devices",
        inside: "How frameworks work",
      },
      found: (/** @type {number} */ examples) =>
        examples === 1 ? "1 example" : `${examples} examples`,
      none: (/** @type {string} */ search) =>
        search.trim()
          ? `No example of this kind mentions “${search.trim()}”.`
          : "There is no example of this kind.",
      showAll: "Show all",
      times:
        "Times of the program on one core of a computer without a graphics card; drawing in the page can add " +
        "a few seconds. Large networks are faster on a graphics card.",
    },
    cards: {
      digit: {
        title: "Draw a digit",
        about: "Draw, and a network reads it at once. Then train your own, on 60,000 digits.",
      },
      spiral: {
        title: "Separate the spiral",
        about: "Two layers bend a line until it follows two classes of points.",
      },
      text: {
        title: "Write text",
        about: "A network reads a rhyme letter by letter, then continues it by itself.",
      },
      game: {
        title: "Play against itself",
        about: "A player of tic-tac-toe learns from nothing but its own games. Play against it.",
      },
      devices: {
        title: "Many devices",
        about: "Two devices train one network, and one of them is slow. Who waits?",
      },
      code: {
        title: "Write code",
        about: "Twenty lines of Python, with help as you type. Make of them what you like.",
      },
      table: {
        title: "Your table",
        about:
          "Bring a table, choose the column to predict, and train on it. It stays in this browser.",
      },
      photos: {
        title: "Your photos",
        about:
          "Images in a folder for each class, or from the camera: teach a network to tell them apart.",
      },
      points: {
        title: "Your points",
        about: "Draw points of two classes, and watch where a network draws the line.",
      },
    },
  },
  /** The bundled examples by id, where the language is not that of their programs. */
  examples: /** @type {Record<string, {title: string, description: string}>} */ ({}),
  programs: {
    /** The program of a bundled example with its comments, docstrings and printed strings in the language of the page. */
    translated: (/** @type {{id: string, source: string}} */ { source }) => source,
  },
  editor: {
    network: "Network",
    blocks: "Blocks",
    code: "Python",
    waiting: "Loading the blocks…",
    hints: ["Ctrl+Enter runs", "Ctrl+I explains"],
    yourData: "Your data",
    yourDataAbout: "Train on data of your own: a table, images, the camera",
    save: "Save the code as a file",
    reset: "Reset code",
    discard: "Discard your edits?",
    discardNow: "Discard",
    keep: "Keep",
    symbols: "Symbols",
    insert: (/** @type {string} */ symbol) => `Insert ${symbol}`,
    indentation: "indentation",
    lost: (/** @type {string} */ id) => `${id} (your code)`,
    lostAbout: "Your code. The example it began with no longer exists.",
    fileOpened: (/** @type {string} */ name) =>
      `“${name}” is open as a program of its own. The one before is still in the list of programs, with your changes.`,
    fileAbout: "A program from a file.",
    fileLarge: (
      /** @type {string} */ name,
      /** @type {string} */ size,
      /** @type {string} */ most,
    ) =>
      `“${name}” has ${size}; a program can have ${most}. Drop a table, images or arrays to train on them instead.`,
    fileNoText: (/** @type {string} */ name) =>
      `“${name}” is not text in UTF-8, so it cannot be opened as a program. Save it as UTF-8 in an editor.`,
    fileEmpty: (/** @type {string} */ name) => `“${name}” has no code.`,
    fileUnreadable: (/** @type {string} */ name, /** @type {string} */ reason) =>
      `“${name}” cannot be read: ${reason}`,
    severalFiles: "Drop one program at a time.",
    forData: (/** @type {string} */ name) => `${name} (your data)`,
    forDataAbout: "A program for data of yours.",
    fromLink: "A program from a link.",
  },
  codeHelp: {
    label:
      "Python code. Press Escape, then Tab, to leave the editor. Control+I explains the name at the " +
      "cursor, Alt+Enter goes to the next mark or fixes it.",
    leaving: "Tab indents. Press Escape, then Tab, to leave the editor.",
    unknown: "Nothing is known of the name at the cursor.",
    errorHere: "The error is on this line",
    /** The editor's own phrases, by its names for them. */
    phrases: {
      "Control character": "Control character",
      "Selection deleted": "Selection deleted",
      Completions: "Completions",
      Diagnostics: "Diagnostics",
      "No diagnostics": "No diagnostics",
      close: "close",
      Find: "Find",
      Replace: "Replace",
      next: "next",
      previous: "previous",
      all: "all",
      "match case": "match case",
      regexp: "regexp",
      "by word": "by word",
      replace: "replace",
      "replace all": "replace all",
      "current match": "current match",
      "on line": "on line",
      "replaced match on line $": "replaced match on line $",
      "replaced $ matches": "replaced $ matches",
      "Go to line": "Go to line",
      go: "go",
    },
  },
  bridge: {
    is: (/** @type {string} */ written, /** @type {string} */ here, reason = "") =>
      `\`${written}\` is \`${here}\` in playgrad.${reason && ` ${reason}`}`,
    isNot: (/** @type {string} */ written, reason = "") =>
      `\`${written}\` is not in playgrad.${reason && ` ${reason}`}`,
    isNotBut: (/** @type {string} */ written, /** @type {string} */ near) =>
      `\`${written}\` is not in playgrad. Did you mean \`${near}\`?`,
    /** A sentence of the table, which Python has in English. */
    said: (/** @type {string} */ sentence) => sentence,
    write: (/** @type {string} */ code) => `Write ${code}`,
    remove: (/** @type {string} */ argument) => `Remove ${argument}`,
    removeLine: "Remove the line",
    fixAll: "Fix all",
    argument: {
      isNot: (/** @type {string} */ argument, /** @type {string} */ of, reason = "") =>
        `\`${argument}\` is not an argument of \`${of}\` in playgrad${reason && `: ${reason}`}.`,
      isNotBut: (
        /** @type {string} */ argument,
        /** @type {string} */ of,
        /** @type {string} */ near,
      ) => `\`${argument}\` is not an argument of \`${of}\` in playgrad. Did you mean \`${near}\`?`,
      writeInput: "Write pg.Input as the first item",
    },
    oneList: "Sequential takes one list of layers.",
    makeList: "Make it a list",
    shapeOfSample: "build takes the shape of one sample, without the batch.",
    weightsFiles: "Weights files of playgrad are .safetensors, .npz or .weights.h5.",
    padding: (/** @type {string} */ layer) =>
      `padding is "valid" or "same" in playgrad; for other borders, put \`${layer}\` before the layer.`,
    batchFirst: "The first dimension is the batch: x.reshape(-1, size).",
    shapeFromData: "A model to which layers are added takes its shape from the data.",
    imports: {
      unresolved: (/** @type {string[]} */ names, reason = "") =>
        `${names.join(", ")}: not available here. ${reason || "Write playgrad's names instead."}`,
      absent: (/** @type {string[]} */ names, /** @type {string[]} */ lines) =>
        `${names.join(", ")}: not available here.${lines.length > 0 ? ` Write: ${lines.join("; ")}` : ""}`,
      fix: "Import it from playgrad",
      remove: "Remove the import",
    },
  },
  errors: {
    section: "Error",
    /** The title of an error, by the name of its class. */
    kind: (/** @type {string} */ type) => type,
    line: (/** @type {number} */ line) => `line ${line}`,
    dismiss: "Dismiss the error",
    translate: "Write it for playgrad",
    left: {
      title: (/** @type {number} */ lines) =>
        lines === 1
          ? "1 line is left to you: playgrad has no equivalent"
          : `${lines} lines are left to you: playgrad has no equivalent`,
      dismiss: "Close the list",
    },
    traceback: "Traceback",
    inEnglish: "Python and playgrad report errors in English.",
    operation: "Operation",
    showInGraph: "Show in the graph",
    startsAgain: "Python is started again by itself.",
    restarts: "The engine is restarting; the next run works again.",
    ended: (/** @type {string} */ reason) => `Python has stopped: ${reason}.`,
    noAnswer: (/** @type {number} */ seconds) => `Python did not answer for ${seconds} s.`,
    restarted: "the engine was restarted",
    noOnnx: (/** @type {string} */ reason) =>
      `The part of playgrad for ONNX files cannot be loaded: ${reason}`,
    newRun: "a new run has begun",
    examples: (/** @type {string} */ reason) => `The examples could not be loaded: ${reason}`,
    missing: (/** @type {string} */ words, /** @type {string} */ name) =>
      `This browser has no ${words} (${name}), without which Python cannot run in the page. ` +
      "Open the page in a recent Chrome, Edge, Firefox or Safari, in a window without restrictions.",
    features: {
      Worker: "web workers",
      WebAssembly: "WebAssembly",
      MessageChannel: "message channels",
      ReadableStream: "streams",
      Atomics: "atomic operations",
      SharedArrayBuffer: "shared memory",
    },
    notIsolated:
      "This page is not cross-origin isolated, so it cannot share memory with its workers. " +
      "Open it from playgrad's own server, at http://localhost or over HTTPS, in a browser that knows isolation: " +
      "a recent Chrome, Edge, Firefox or Safari.",
  },
  output: {
    /** What Python prints; names and fields as in `playgrad.runtime.phrases`. */
    printed: {
      epoch: "epoch {epoch}/{epochs}: {numbers} ({seconds} s)",
      stoppedEarly: "epoch {epoch}: training stopped early",
      bestWeights: "weights restored from epoch {epoch}, the best",
      rate: "epoch {epoch}: learning rate {rate}",
      reducedRate: "epoch {epoch}: learning rate reduced to {rate}",
      saved: "epoch {epoch}: saved {path}",
      ended: "training ended: {error}",
      mixed: "mixed precision: products of float16 (f16), everything else float32",
      layer: "layer",
      outputShape: "output shape",
      parameters: "parameters",
      notBuilt: "not built",
      total: "{total} parameters, {trainable} of them trainable",
    },
    title: "Output",
    label: "Output of the code",
    clear: "Clear",
    asTable: "Table of values",
    thisFigure: "this figure",
    table: "Values of the plot",
    allValues: "All values",
    sample: "A sample of the values",
    series: "Series",
    pictures: (/** @type {number} */ number) => `${number} pictures, `,
    leftOut: (/** @type {number} */ characters) => `… ${count(characters)} characters left out …`,
    notKept: (/** @type {string} */ text) => `[not kept: ${text}]`,
    figures: {
      titled: (/** @type {string} */ title, /** @type {string} */ what) => `${title}: ${what}`,
      plot: (/** @type {string} */ series) => `plot of ${series}`,
      pictures: (
        /** @type {number} */ number,
        /** @type {number} */ height,
        /** @type {number} */ width,
      ) => `${number === 1 ? "picture" : `${number} pictures`} of ${height} × ${width}`,
      image: (/** @type {string} */ axes) => (axes ? `figure with ${axes}` : "empty figure"),
      axes: (
        /** @type {string} */ across,
        /** @type {string} */ up,
        /** @type {string} */ contents,
        /** @type {string[]} */ labels,
      ) =>
        (contents || "empty axes") +
        (labels.length ? ` (${labels.join(", ")})` : "") +
        (across || up ? ` of ${up || "y"} over ${across || "x"}` : ""),
      contents: (
        /** @type {{lines: number, images: number, points: number, shapes: number}} */ counts,
      ) =>
        [
          counts.lines ? plural(counts.lines, "line") : "",
          counts.images ? plural(counts.images, "image") : "",
          counts.points ? plural(counts.points, "point") : "",
          counts.shapes ? plural(counts.shapes, "shape") : "",
        ]
          .filter(Boolean)
          .join(", "),
      inColour: (/** @type {string} */ what) => `${what} in colour`,
      range: (/** @type {string} */ what, /** @type {string} */ low, /** @type {string} */ high) =>
        `${what}, from ${low} to ${high}`,
      noted: (/** @type {string} */ what, /** @type {string} */ note) => `${what} (${note})`,
      points: (/** @type {string} */ label, /** @type {number} */ number) =>
        `${label ? `${label}, ` : ""}${plural(number, "point")}`,
      noNumbers: (/** @type {string} */ points) => `${points} without numbers`,
      values: (
        /** @type {string} */ points,
        /** @type {string} */ low,
        /** @type {string} */ high,
        /** @type {string} */ last,
      ) => `${points} from ${low} to ${high}, last ${last}`,
    },
  },
  /** What the engine's workers report. */
  engine: {
    /** A sentence or a part of one, which they have in English; some have a code and values. */
    said: (/** @type {import("../../engine/messages.js").Sentence} */ { message }) => message,
    again: (/** @type {string} */ problem, /** @type {number} */ seconds) =>
      `${problem} Trying again in ${seconds} s.`,
    perhapsUpdated: (/** @type {string} */ problem) =>
      `${problem} If the server was updated, reload the page.`,
    dataSet: (/** @type {string} */ problem) =>
      `A file that the program needs does not arrive: ${problem}`,
  },
  prompt: {
    hint: "Python with the variables of the last run",
    label:
      "Prompt: Python with the names of the program. Enter executes, Shift+Enter begins a line, up and down " +
      "go through what was typed, Tab completes.",
    runFirst:
      "Press Run first: the prompt uses the variables of the program that has run in this visit.",
    betweenSteps: "between two steps…",
    working: "working…",
    stop: "Stop",
    interrupt: "Interrupt (Ctrl+C)",
  },
  curves: {
    title: "Curves",
    smoothing: "Smoothing",
    smoothings: { auto: "automatic", none: "none" },
    larger: "Larger curves, and how they are drawn",
    logScale: "Log scale",
    asTable: "Table",
    loss: "Loss",
    accuracy: "Accuracy",
    elo: "Elo rating",
    lines: { batch: "batch", trend: "trend", test: "test", elo: "Elo" },
    theCurves: "the curves",
    earlierChanges: (/** @type {number} */ number) =>
      `${number} earlier ${number === 1 ? "change" : "changes"} in the table`,
    step: (/** @type {number} */ step) => `Step ${step}`,
    tick: (/** @type {string} */ step) => `step ${step}`,
    summary: (/** @type {string} */ title, /** @type {string} */ values) =>
      `${title} by step: ${values}`,
    noData: "no data yet",
    waiting: "The curve appears when training starts.",
    noAccuracy: "This program measures no accuracy.",
    lossAt: (/** @type {number} */ step) => `Loss at step ${step}`,
    at: (/** @type {string} */ title, /** @type {number} */ step) => `${title} at step ${step}`,
    settings: { "learning rate": "learning rate" },
    change: (
      /** @type {string} */ name,
      /** @type {string} */ before,
      /** @type {string} */ after,
      /** @type {number} */ step,
    ) => `${name} ${before} → ${after} at step ${step}`,
    table: {
      label: "Curves as tables",
      byEpoch: "By epoch",
      sampleByEpoch: "Some of the epochs",
      byStep: "By step",
      sampleByStep: "Some of the steps",
      changes: "Settings changed while training",
      epoch: "Epoch",
      step: "Step",
      loss: "Loss",
      accuracy: "Accuracy",
      testLoss: "Test loss",
      testAccuracy: "Test accuracy",
      trend: "Trend",
      afterStep: "After step",
      setting: "Setting",
      before: "Before",
      after: "After",
    },
  },
  task: {
    titles: {
      "prediction-over-the-plane": "Prediction over the plane",
      "decision-boundary": "Decision boundary",
      "test-images": "Test images",
      "training-images": "Training images",
      "predicted-against-true-classes": "Predicted against true classes",
      "predicted-against-true": "Predicted against true",
      "classes-of-nodes": "Classes of the nodes",
      "text-the-network-writes": "Text the network writes",
      "what-the-network-does": "What the network does",
    },
    thisPicture: "this picture",
    choice: "Main picture",
    problem: (/** @type {string} */ problem) => `This cannot be shown: ${problem}`,
    none:
      "There is no picture for this kind of data yet. There is one for points with two " +
      "coordinates, for images with classes, for tables with a class or a number to predict, for the nodes of a " +
      "graph, and for text with a pg.data.Vocabulary.",
    asking: "Asking the network…",
    idle: "Press Run: here you see what the network does with your data while it learns.",
    awaited: "When fit() begins to train, you see here what the network does with your data.",
    failed: "The run has failed before there was anything to show. See the error.",
    untrained:
      "fit() trained no network in this run. If it trains one, you see here what the network does with its data.",
    classNumber: (/** @type {number} */ label) => `class ${label}`,
    planeData: "Data",
    testPoints: "Test points (hollow)",
    plane: (/** @type {string[]} */ [left, right, bottom, top], /** @type {string} */ content) =>
      `Predictions over the plane, x from ${left} to ${right}, y from ${bottom} to ${top}: ${content}`,
    range: (/** @type {string} */ low, /** @type {string} */ high) => `from ${low} to ${high}`,
    shareOfClass: (/** @type {number} */ label, /** @type {string} */ share) =>
      `class ${label} on ${share}`,
    unitsOf: (/** @type {string} */ layer) => `Units of ${layer}`,
    units: (/** @type {string} */ layer, /** @type {number} */ shown, /** @type {number} */ all) =>
      `${layer}: ${shown < all ? `${shown} of ${all}` : all} units`,
    unit: (/** @type {number} */ number, /** @type {string} */ layer) =>
      `Unit ${number} of ${layer}`,
    // Before and after the number of right ones.
    images: (
      /** @type {number} */ shown,
      /** @type {number} */ all,
      /** @type {boolean} */ tested,
    ) => [
      "",
      ` of these ${shown} ${tested ? "test" : "training"} images right; there are ${count(all)}.`,
    ],
    image: (
      /** @type {string | number} */ truth,
      /** @type {string | number} */ predicted,
      /** @type {string} */ chance,
      /** @type {{isNamed: boolean, isRight: boolean}} */ { isNamed, isRight },
    ) =>
      `${isNamed ? "" : "A "}${truth}, predicted ${predicted}${chance && `, ${chance}`}: ${isRight ? "right" : "wrong"}`,
    rows: (/** @type {number} */ shown, /** @type {number} */ all, /** @type {boolean} */ tested) =>
      `${count(shown)}${shown < all ? ` of ${count(all)}` : ""} ${tested ? "test" : "training"} rows`,
    confusion: (/** @type {string} */ rows, /** @type {string} */ share) => [
      "",
      ` of ${rows} right, ${share}. A row of the table is a true class, a column a predicted one.`,
    ],
    error: ", mean absolute error ",
    onRows: (/** @type {string} */ rows) => `, on ${rows}`,
    scatter: (/** @type {string} */ explained, /** @type {string} */ error) =>
      `Predicted against true numbers: R² ${explained}, mean absolute error ${error}`,
    truth: "true",
    predicted: "predicted",
  },
  nodes: {
    picture: (/** @type {string} */ nodes, /** @type {string} */ lines) =>
      `Graph of ${nodes} nodes and ${lines} lines between them`,
    keys:
      "Arrow keys lead to the neighbour in that direction, Page Up and Page Down to the previous and the next node, " +
      "Escape to none. Plus and minus zoom, 0 shows the whole graph.",
    zoom: "Zoom",
    closer: "Closer",
    farther: "Farther",
    whole: "Whole graph",
    // `others`, `training`: of the nodes without and with a weight in the loss; null for none.
    right: (
      /** @type {{percent: string, right: string, all: string} | null} */ others,
      /** @type {{percent: string, right: string, all: string} | null} */ training,
    ) => {
      const parts = [
        training && `${training.right} of ${training.all} nodes that train`,
        others && `${others.percent} of ${others.all} others`,
      ];
      return `Right: ${parts.filter((each) => each).join(", ")}`;
    },
    colours: "Colours",
    colouring: { predicted: "Predicted", true: "True", right: "Errors" },
    lines: "Lines",
    alike: "all alike",
    messagesOf: (/** @type {string} */ layer) => `messages of ${layer}`,
    isRight: "right",
    isWrong: "wrong",
    neither: "no class (NaN)",
    unknown: "class not known",
    trains: "trains",
    choose: "Point at a node, or move to one with the arrow keys, to see its neighbours.",
    part: (/** @type {string} */ drawn, /** @type {string} */ all) =>
      `Drawn are ${drawn} of ${all} nodes: one that trains, with neighbours, their neighbours, and so on.`,
    node: (/** @type {number} */ number) => `Node ${number}`,
    verdict: (
      /** @type {{truth: string, predicted: string, chance: string, isRight: boolean | null}} */ {
        truth,
        predicted,
        chance,
        isRight,
      },
    ) =>
      `${isRight ? "" : `${truth}, `}predicted ${predicted}${chance && `, ${chance}`}${isRight === null ? "" : isRight ? ": right" : ": wrong"}`,
    messages: (/** @type {number} */ neighbours) =>
      `It takes from ${neighbours === 1 ? "1 neighbour" : `${neighbours} neighbours`}:`,
    neighbours: (/** @type {number} */ neighbours) =>
      neighbours === 1 ? "1 neighbour:" : `${neighbours} neighbours:`,
    from: (/** @type {string} */ node, /** @type {string} */ predicted) => `${node}, ${predicted}`,
    fromItself: "itself",
    more: (/** @type {number} */ others) => `and ${others} more`,
  },
  sample: {
    prompt: (/** @type {"character" | "word"} */ unit, /** @type {number} */ least) =>
      `Begin with${least > 1 ? `, at least ${least} ${unit}s` : ""}`,
    temperature: "Temperature",
    temperatureAbout: (/** @type {"character" | "word"} */ unit) =>
      `0 writes the most probable ${unit} each time; more lets chance decide`,
    another: "Another",
    anotherAbout: "Draw with other random numbers",
    onlyOne: "At temperature 0 there is only one text",
    fromData: "Prompt from the data",
    written: "Text written by the network",
    next: (/** @type {"character" | "word"} */ unit) => `Next ${unit} after the prompt`,
    tokens: { " ": "space", "\n": "line end", "\t": "tab" },
  },
  board: {
    title: "Play the network",
    board: "Board. Choose a cell with the arrow keys, and move with Enter.",
    place: (/** @type {number} */ row, /** @type {number} */ column) =>
      `row ${row}, column ${column}`,
    cell: (
      /** @type {string} */ place,
      /** @type {string | undefined} */ stone,
      /** @type {string} */ rating,
    ) => `${place}: ${stone ?? "free"}${rating && `, rated ${rating} for you`}`,
    yourTurn: (/** @type {string} */ stone) => `Your turn: you are ${stone}.`,
    moved: (
      /** @type {string} */ place,
      /** @type {string} */ stone,
      /** @type {boolean} */ hasNetwork,
    ) =>
      `${hasNetwork ? "The network moved" : "The other side moved, at random,"} to ${place}. Your turn: you are ${stone}.`,
    thinks: "The network is choosing its move…",
    youWon: "You have won.",
    /** @returns {string} */
    itWon: (/** @type {boolean} */ hasNetwork) =>
      hasNetwork ? "The network has won." : "You have lost to random moves.",
    draw: "A draw.",
    newGame: "New game:",
    youBegin: "You begin",
    itBegins: "It begins",
    ratings:
      "The numbers say how the network expects the game to end for you after each move: from −1, " +
      "lost, to +1, won.",
    before:
      "Before you have trained a network, the other side moves at random. Press Run: it then plays by " +
      "what the network has learned so far.",
    several: (/** @type {number} */ outputs) =>
      `the network gives ${outputs} numbers for each position, and one is needed.`,
  },
  game: {
    title: "Play the network",
    unknown: "The board appears when the program makes its SelfPlay. Press Run.",
    board: (/** @type {number} */ rows, /** @type {number} */ columns) =>
      `Board of ${rows} rows and ${columns} columns. Choose a cell with the arrow keys, and move with Enter.`,
    stones: { marks: ["X", "O"], colours: ["black", "white"], discs: ["red", "yellow"] },
    place: (/** @type {number} */ row, /** @type {number} */ column) =>
      `row ${row}, column ${column}`,
    column: (/** @type {string} */ number) => `column ${number}`,
    pass: "pass",
    free: "free",
    last: "last move",
    numbers: {
      policy: (/** @type {string} */ text) => `policy ${text} %`,
      visits: (/** @type {string} */ text) => `${text} visits`,
      q: (/** @type {string} */ text) => `Q ${text}`,
    },
    /** @returns {string} */
    start: (/** @type {boolean} */ isRunning) =>
      isRunning ? "The network is on its way…" : "Your turn. Choose a cell, or begin another game.",
    begins: (/** @type {string} */ stone) => `The network plays both sides; ${stone} begins.`,
    yourTurn: (/** @type {string} */ stone) => `Your turn: you are ${stone}.`,
    mustPass: "You have no other move: pass.",
    /** @returns {string} */
    thinks: (/** @type {boolean} */ hasNetwork) =>
      hasNetwork ? "The network is choosing its move…" : "The other side moves…",
    moved: (
      /** @type {string | null} */ who,
      /** @type {string} */ place,
      /** @type {boolean} */ hasNetwork,
    ) => `${mover(who, hasNetwork)} played ${place}`,
    passed: (/** @type {string | null} */ who, /** @type {boolean} */ hasNetwork) =>
      `${mover(who, hasNetwork)} passed`,
    captured: (/** @type {number} */ count) => ` and captured ${plural(count, "stone")}`,
    turned: (/** @type {number} */ count) => ` and turned ${plural(count, "disc")}`,
    stop: ". ",
    youWon: "You have won.",
    /** @returns {string} */
    itWon: (/** @type {boolean} */ hasNetwork) =>
      hasNetwork ? "The network has won." : "You have lost to random moves.",
    won: (/** @type {string} */ stone) => `${capitalized(stone)} has won.`,
    draw: "A draw.",
    refused: (/** @type {string} */ move, /** @type {string} */ reason) =>
      `You cannot play ${move}: ${reason}.`,
    isOver: "The game has ended: begin a new one, or undo.",
    isWatching: "The network plays both sides. Begin a new game to move yourself.",
    wait: "It is not your turn yet.",
    noMove: "No move belongs to this cell.",
    newGame: "New game",
    youBegin: "You begin",
    itBegins: "It begins",
    watch: "Watch",
    undo: "Undo",
    doPass: "Pass",
    hold: "Pause",
    goOn: "Continue",
    looks: (/** @type {number} */ simulations) =>
      simulations === 0 ? "no search" : `search ${simulations}`,
    heats: { policy: "policy", visits: "visits", q: "Q" },
    shows: (/** @type {"policy" | "visits" | "q" | "none"} */ heat) =>
      ({ policy: "show policy", visits: "show visits", q: "show Q", none: "show no hints" })[heat],
    move: "Move",
    moves: "Moves",
    tree: "The moves that the search has visited most, with the replies to them",
    replies: (/** @type {string} */ move) => `Replies to ${move}`,
    expects: (/** @type {string | null} */ who) => `Expected for ${who ?? "you"}`,
    ended: (/** @type {string | null} */ who) => `Result for ${who ?? "you"}`,
    line: "Expected moves",
    before:
      "Before the program runs, the other side moves at random. Press Run: the network learns by " +
      "playing itself, and you can play it at any time.",
    about: {
      policy: "The probability that the network gives the move before any search, in percent",
      visits: "How many simulations of the search began with the move",
      q: "The mean result of these simulations for the player who makes the move: from −1, lost, to +1, won",
      value: "From −1, lost, to +1, won",
      watch: "Watch a game that the network plays against itself",
      undo: "Take back your last move and the answer to it",
      pass: "Make no move",
      simulations:
        "How far the network looks ahead: the simulations of its tree search for each move",
      cells: "The numbers in the free cells: what the network thinks of a move there",
    },
  },
  digits: {
    title: "Draw a digit",
    before:
      "A network that comes with the page answers. Run trains yours: it begins with random weights.",
    probabilities: "Probability of each digit",
    trainYours: "Now train it yourself",
    none: "Prediction",
    certain: (/** @type {number} */ digit) => `It is ${digit === 8 ? "an" : "a"}`,
    likely: (/** @type {number} */ digit) => `Perhaps ${digit === 8 ? "an" : "a"}`,
    unsure: (/** @type {number} */ digit) => `Not sure: perhaps ${digit === 8 ? "an" : "a"}`,
    canvas:
      "Drawing area. Draw with the pointer, or press Space and use the arrow keys. Delete clears.",
    drawHere: "Draw here",
    preview: "What the network sees: 28 by 28 pixels",
    clear: "Clear",
  },
  doctor: {
    title: "Doctor",
    line: (/** @type {number} */ line) => `line ${line}`,
    dismiss: "Dismiss this finding",
    showNode: "Show in the graph",
    apply: (/** @type {string} */ edit) => `Change the code: ${edit}`,
    applied: "Written into the code. Run it to see the effect.",
    changed:
      "These lines have changed since the run, so the suggestion no longer fits. Run again for a new one.",
    elsewhere: "The editor shows another program than the one that ran.",
    announced: (/** @type {string} */ sentence, /** @type {number} */ more) =>
      `Doctor: ${sentence}${more > 0 ? ` And ${more} more.` : ""}`,
    sentences: {
      "not-finite": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { step, op, weights },
      ) =>
        weights
          ? `The loss is NaN or infinite from the first step: weights of “${weights}” were NaN or infinite before the training. Look at where the program sets or loads them.`
          : `The loss became NaN or infinite at step ${step}${op ? `: “${op}” is the first operation whose result is NaN or infinite` : ""}.`,
      "input-scale": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { low, high },
      ) =>
        `The inputs range from ${low} to ${high}, but networks learn best from values of about −1 to 1.`,
      "target-scale": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { low, high },
      ) =>
        `The targets range from ${low} to ${high}, but networks learn best from values of about −1 to 1.`,
      "activation-twice": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { activation },
      ) =>
        `The loss expects scores (from_logits=True), but the last layer ends in ${activation}: it is applied twice, and the network can never be sure.`,
      "rate-high": (/** @type {import("../panels/watch/doctor-words.js").Words} */ { rate }) =>
        `The learning rate ${rate} is too large: each step overshoots.`,
      "rate-low": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ {
          rate,
          loss,
          ahead,
          times,
          percent,
          start,
        },
      ) =>
        `The learning rate ${rate} is too small: ${
          percent
            ? `the weights have moved by ${percent}% of their size`
            : start
              ? `the training ended while the loss, which was ${start} and is ${loss}, had hardly begun to fall`
              : `${times} times as far in the same direction the loss would be ${ahead} instead of ${loss}`
        }.`,
      exploding: (/** @type {import("../panels/watch/doctor-words.js").Words} */ { times }) =>
        `The gradients explode: that of this layer is ${times} times as long as its weights.`,
      vanishing: (/** @type {import("../panels/watch/doctor-words.js").Words} */ { times }) =>
        `The gradients vanish on their way to the first layer, which learns ${times} times slower than the fastest.`,
      "dead-units": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { dead, units },
      ) => `${dead} of ${units} units are dead: their result is 0 for every sample.`,
      frozen: /** @returns {string} */ (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { why },
      ) =>
        why === "gradient"
          ? "This layer gets no gradient: the loss does not depend on its weights, so it learns nothing."
          : "This layer is frozen with the weights that chance gave it, so it learns nothing.",
      shuffled: () =>
        "Inputs and targets do not belong together: samples that are alike have targets that are not, " +
        "as if one of them was shuffled alone.",
      overfitting: (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { epoch, best, now },
      ) =>
        `The network overfits: since epoch ${epoch} the test loss has risen from ${best} to ${now} while the training loss fell.`,
      "not-falling": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { start, now, why },
      ) =>
        `The loss does not fall: it was ${start} and is ${now}.${
          {
            constant: " All weights of this layer begin with one value, so its units stay alike.",
            softmax: " A softmax of one unit is always 1.",
            positive: " The last layer is never negative after relu, but targets are.",
            weak: " The weights of this layer are so small that hardly anything passes it.",
            unrelated:
              " Samples that are alike have targets that are not: check that x and y are in the same order.",
          }[why] ??
          " Check that the inputs say something about the targets, and try a larger network."
        }`,
      "not-seen": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { error, message },
      ) =>
        `The doctor could not check everything (${message ? `${error}: ${message}` : error}). The training is not affected.`,
    },
    edits: {
      "set-rate": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { before, after },
      ) => `learning rate ${before} → ${after}`,
      clip: (/** @type {import("../panels/watch/doctor-words.js").Words} */ { norm }) =>
        `clip gradients: global_clipnorm=${norm}`,
      guard: (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { function: name, least },
      ) => `keep the argument of ${name} at ${least} or more`,
      "insert-first": (/** @type {import("../panels/watch/doctor-words.js").Words} */ { layer }) =>
        `first layer ${layer}`,
      "append-last": (/** @type {import("../panels/watch/doctor-words.js").Words} */ { layer }) =>
        `last layer ${layer}`,
      "append-last-adam": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { layer },
      ) => `last layer ${layer}, trained by Adam`,
      "set-activation": (
        /** @type {import("../panels/watch/doctor-words.js").Words} */ { before, after },
      ) => `${before} → ${after}`,
      thaw: () => "trainable = True",
      "let-gradient": () => "without stop_gradient",
      unshuffle: (/** @type {import("../panels/watch/doctor-words.js").Words} */ { name }) =>
        `do not shuffle ${name} alone`,
      "stop-early": () => "stop early, with the best weights",
      initialize: () => "random initial weights",
    },
  },
  weights: {
    title: "Weights",
    saveSafetensors: "Save as safetensors",
    saveNpz: "Save as npz",
    load: "Load a file…",
    saved: (/** @type {string} */ file, /** @type {number} */ bytes) =>
      `Saved ${file}, ${count(bytes)} bytes.`,
    loaded: (/** @type {string[]} */ names, /** @type {string} */ file) =>
      `Loaded ${names.length} variables from ${file}: ${names.join(", ")}.`,
    otherNames: (/** @type {string} */ file) =>
      `${file} has other names than this network. Nothing is loaded until you press Apply in the table.`,
    notLoaded: (/** @type {string} */ file) => `Nothing was loaded from ${file}.`,
    none: "Run a network first. Then you can save its weights and load them again.",
    about: "PyTorch and NumPy can open these files. Drop a file here to load it.",
    tooLarge: (/** @type {string} */ file, /** @type {string} */ size) =>
      `${file} is ${size}, far larger than the weights of this network. Choose a file that was saved from a network with the same layers.`,
    unreadable: (/** @type {string} */ file, /** @type {string} */ reason) =>
      `${file} could not be read: ${reason} Choose it again.`,
  },
  matching: {
    name: "The table of weights",
    title: "Match weights",
    close: "Close, load nothing",
    about: (/** @type {string} */ file, /** @type {string} */ layout) =>
      `The names in ${file} differ from the network's. Tensors were matched by shape and order, and are converted from ${layout}. Check the table; nothing changes until you press Apply.`,
    layouts: { pytorch: "PyTorch's layouts", keras: "the layouts of Keras, which are playgrad's" },
    weight: "Weight",
    shape: "Shape in the file",
    tensor: "Tensor in the file",
    tensorFor: (/** @type {string} */ weights) => `Tensor for ${weights}`,
    by: "Matched by",
    how: {
      name: "name",
      layer: "layer and order",
      shape: "shape and order",
      hand: "you",
      none: "–",
    },
    nothing: "Choose…",
    noSuchShape: "none of this shape",
    missing: (/** @type {number} */ number) =>
      `${plural(number, "tensor")} missing. All weights are loaded, or none.`,
    complete: "Every weight has its tensor.",
    unused: (/** @type {string[]} */ tensors) => `Not used: ${tensors.join(", ")}`,
    cancel: "Cancel",
    apply: "Apply",
  },
  pictures: {
    save: (/** @type {string} */ what, /** @type {string} */ format) => `Save ${what} as ${format}`,
    failed: (/** @type {string} */ reason) => `The picture was not saved: ${reason}`,
    noPng: "the browser could not make the picture. Save it as SVG.",
    reduced: (/** @type {string} */ percent) =>
      `The drawing is too large for a PNG, which has ${percent} of its size. The SVG has all of it.`,
  },
  graph: {
    title: "Graph",
    empty: "Run a network to see its graph: forward, gradient and update operations.",
    drawing: "Drawing…",
    layingOut: "Computing the layout…",
    failed: (/** @type {string} */ reason) => `The graph could not be drawn: ${reason}`,
    layoutFailed: "the layout worker failed",
    operations: (/** @type {number} */ number) => `${number} operations`,
    keys: "Graph. Arrow keys move, Enter opens.",
    minimap: "Overview of the graph. Arrow keys move the view.",
    scope: (/** @type {string} */ name) => `${name}, scope`,
    part: (/** @type {string} */ name, /** @type {number} */ number, /** @type {number} */ parts) =>
      `${name} ${number}/${parts}`,
    namedPart: (/** @type {string} */ name, /** @type {string} */ use) => `${name}: ${use}`,
    /** What the parts of a training step are for, by the phase of their operations. @type {Record<string, string>} */
    stepParts: {
      input: "batch",
      forward: "loss",
      gradient: "gradients",
      update: "step",
      variable: "variables",
    },
    colourBy: "Colour by",
    role: "role",
    device: "device",
    time: "time",
    magnitude: "magnitude",
    measuring: "Measuring the operations…",
    notMeasured: "not measured",
    lowest: { time: "quick", magnitude: "near 0" },
    timeFrom: (/** @type {string} */ share) => `from ${share} of the slowest`,
    magnitudeFrom: (/** @type {string} */ value) => `from ${value}`,
    view: "View",
    zoomOut: "Zoom out",
    zoomIn: "Zoom in",
    fit: "Fit to view",
    collapse: "Collapse all scopes",
    expand: "Expand all scopes",
    inPicture: "the graph",
    fullPage: "Full page",
    exitFullPage: "Exit full page",
    legend: "Colours",
    controlEdge: "control edge",
    inPython: "computed in Python",
    phases: {
      input: "input",
      variable: "variable",
      forward: "forward",
      gradient: "gradient",
      update: "update",
    },
    notPlaced: "not placed",
    node: {
      label: "Selected operation",
      close: "Close",
      operation: "Operation",
      phase: "Phase",
      shape: "Shape",
      type: "Type",
      noType: "none",
      device: "Device",
      computed: "Computed",
      compiled: "in compiled code",
      /** Why Python computes an operation between compiled ones. */
      inPython: {
        own: "in Python: your program has defined it",
        no_emitter: "in Python: it cannot be compiled",
        unsupported: "in Python: it cannot be compiled for this type or these options",
        operands: "in Python: it has too many inputs to be compiled",
      },
      /** Why no operation of the program is compiled. */
      notCompiled: {
        waits: "in Python: compiled code would not pay yet",
        apart: "in Python, operation by operation",
      },
      createdAt: "Created at",
      line: (/** @type {number} */ number) => `line ${number}`,
    },
  },
  undo: {
    title: "Look back",
    about: "Drag to see everything as it was at an earlier step",
    whileRunning: "Pause to look back",
    place: (/** @type {number} */ step, /** @type {number} */ total, /** @type {string} */ loss) =>
      `Step ${count(step)}${total > 0 ? ` of ${count(total)}` : ""}${loss && `, trend ${loss}`}`,
    looking: (/** @type {number} */ step, /** @type {number} */ end) =>
      `You see step ${count(step)}. The training is at step ${count(end)}, and nothing of it is lost.`,
    branch: "Branch from here",
    branchAbout: "Begin a new run at this step, with the code as it is now",
    branchWhere: "First move the slider to an earlier step",
    begins: (/** @type {number} */ run, /** @type {number} */ step) =>
      `This run branches off ${run > 0 ? `from run ${run}` : "from the run before"} at step ${count(step)}.`,
    branchOf: (/** @type {number} */ run, /** @type {number} */ step) =>
      `branch${run > 0 ? ` of run ${run}` : ""} at step ${count(step)}`,
  },
  bench: {
    title: "The kernel bench",
    open: "Try another kernel",
    close: "Close the bench",
    openAbout: "Edit the WGSL, check it against NumPy and time it. The training is not touched",
    about: (
      /** @type {string[]} */ nodes,
      /** @type {string} */ adapter,
      /** @type {boolean} */ ofRun,
    ) =>
      `${nodes.join(", ")} ${nodes.length === 1 ? "runs" : "run"} here alone, on a device of its own (${adapter}), with the inputs of ${ofRun ? "the last run that needs it" : "the first batch"}. ` +
      `Edits stay here: ${ofRun ? "sessions run" : "training continues with"} the compiler's kernel.`,
    kernel: "Kernel",
    number: (/** @type {number} */ at, /** @type {number} */ all) => `${at} of ${all}`,
    source: "WGSL of the kernel",
    check: "Check",
    checking: "Checking…",
    time: "Time",
    timing: "Measuring…",
    back: "Back to the compiler's",
    passed: (/** @type {number} */ samples) =>
      `Its results equal NumPy's, in all ${samples} samples.`,
    failed: (/** @type {number} */ wrong, /** @type {number} */ samples) =>
      `It computes something else in ${wrong} of ${samples} samples.`,
    sample: (/** @type {string} */ name) =>
      /** @type {Record<string, string>} */ ({
        step: "Inputs of the first batch:",
        run: "Inputs of the last run:",
        normal: "Random inputs:",
        zeros: "Zeros:",
        large: "Large inputs:",
      })[name] ?? `Sample ${name.replace(/\D+/, "")} of the op contract:`,
    others: (/** @type {number} */ number) =>
      `${number} ${number === 1 ? "sample of the op contract runs" : "samples of the op contract run"} another kernel, without the lines you changed.`,
    compiled: "compiler's",
    edited: "edited",
    limit: "limit",
    measure: "Measure against the limit",
    measureAbout: "How close the kernel comes to the least time that this device could take",
    ratio: (/** @type {string} */ ratio) => `The edited kernel takes ${ratio} times as long.`,
    share: (/** @type {string} */ percent) => `${percent}% of the limit`,
    how: (
      /** @type {number} */ runs,
      /** @type {string} */ moved,
      /** @type {string} */ operations,
    ) =>
      `Medians of seven rounds of ${runs} runs, by turns. The limit is the time to move ${moved} bytes or to do ${operations} operations, whichever is longer, at the rates measured on this device. A tensor that fits a cache can be faster.`,
  },
  nodeTabs: {
    name: "The details of operations",
    loading: "Loading…",
    label: "Details of the operation",
    tabs: { value: "Value", gradient: "Gradient", time: "Time", kernel: "Kernel", code: "Code" },
    asking: "Asking Python…",
    output: "Output",
    shownFor: "For",
    lastBatch: "the last training batch",
    firstBatch: "the first training batch",
    oneSample: (/** @type {boolean} */ hasTests) => `one ${hasTests ? "training " : ""}sample`,
    oneTestSample: "one test sample",
    statistics: {
      min: "min",
      max: "max",
      mean: "mean",
      std: "std",
      zeros: "zeros",
      nan: "NaN",
      inf: "infinite",
    },
    empty: "It has no elements.",
    histogram: (/** @type {string} */ low, /** @type {string} */ high) =>
      `Histogram of the values, from ${low} to ${high}`,
    sampled: "of a sample",
    grid: (/** @type {number} */ rows, /** @type {number} */ columns) =>
      `Values as colours, ${rows} rows by ${columns} columns`,
    part: (
      /** @type {number} */ rows,
      /** @type {number} */ allRows,
      /** @type {number} */ columns,
      /** @type {number} */ allColumns,
    ) => `${rows} of ${allRows} rows, ${columns} of ${allColumns} columns, evenly spread`,
    pictures: {
      samples: (/** @type {number} */ shown, /** @type {number} */ all) =>
        all === 1 || shown < 2 ? "as an image" : `${shown} of ${all} images`,
      channels: (/** @type {number} */ shown, /** @type {number} */ all) =>
        `${shown} of ${all} maps of the first sample`,
      filters: (/** @type {number} */ shown, /** @type {number} */ all) =>
        `${shown} of ${all} filters`,
      units: (/** @type {number} */ shown, /** @type {number} */ all) =>
        `weights of ${shown} of ${all} units`,
    },
    numbers: "Numbers",
    noLine: "No line of your program created this operation: the library added it.",
    toLine: (/** @type {number} */ line) => `Go to line ${line}`,
    edited: "The editor shows another program now.",
    attributes: "Attributes",
    search: {
      label: "Find operations by name, or by values such as grad(dense_*) |max| > 10",
      placeholder: "relu, or value(*relu*) zeros > 0.5",
      pressEnter: "Enter asks Python.",
      names: (/** @type {number} */ all, /** @type {number} */ here) =>
        all === 0
          ? "No operation has this name."
          : `${here < 0 ? "" : `${here + 1} of `}${all} found. Enter selects the next.`,
      values: (
        /** @type {number} */ all,
        /** @type {number} */ checked,
        /** @type {number} */ skipped,
        /** @type {number} */ here,
        /** @type {string} */ number,
      ) =>
        `${all} of ${checked} match${skipped ? `, ${skipped} left out: no value, or more than 16 million elements` : ""}${here < 0 ? "" : `; number ${here + 1}: ${number}`}.`,
    },
    numpy: (/** @type {string} */ op, /** @type {string} */ device) =>
      `NumPy computes ${op} on ${device}: a processor runs no kernels.`,
    compiled: (/** @type {string} */ op, /** @type {string} */ device) =>
      `${op} is a part of the compiled step on ${device}.`,
    within: "It has no kernel of its own. It is computed within",
    together: "Computed in the same operation:",
    family: "Kernel",
    workgroups: "Workgroups",
    merged: (/** @type {number} */ number) => `One dispatch for ${number} operations:`,
    source: "WGSL source",
    beginning: (/** @type {number} */ shown, /** @type {number} */ all) =>
      `The first ${shown} of ${all} characters.`,
    dispatches: (/** @type {number} */ number) =>
      `A training step is ${number === 1 ? "one dispatch" : `${number} dispatches`} on this device.`,
    alone: "alone",
    step: "a step",
    share: "share",
    measuredHow: (/** @type {number} */ runs, /** @type {string} */ device) =>
      `Measured by itself on ${device}: the least of three rounds of ${runs === 1 ? "one run" : `${runs} runs`}, with the inputs of the first batch. Within a step it may be fused with others, and then it takes less; the step is that of the training.`,
    again: "Measure again",
    problems: {
      stored: () => "It is stored, not computed, so no kernel runs for it in a step.",
      resolved: () =>
        "The compiler resolved it before the step runs: it is constant, equal to another operation, or not needed.",
      no_wgsl: (/** @type {any} */ { device }) =>
        `NumPy computes it on ${device}, and no kernel. Train on a GPU to try others.`,
      not_measured: (/** @type {any} */ { message }) => `It cannot run by itself: ${message}`,
      no_run: () => "No saved run of this program computes it, so there is no kernel to show.",
      query_form: () => "Write a query as value(*relu*) zeros > 0.5 or grad(dense_*) |max| > 10.",
      query_part: (/** @type {any} */ { word }) =>
        `A query begins with value(…) or grad(…), not ${word}(…).`,
      query_pattern: () =>
        "Write the names to search between the parentheses; * stands for any characters: value(dense_*).",
      query_statistic: (/** @type {any} */ { word }) =>
        `${word ? `“${word}” is not a number of a tensor.` : "A number of the tensor is missing."} Compare |max|, max, min, mean, std, zeros, nan or inf.`,
      query_comparison: (/** @type {any} */ { word }) =>
        `${word ? `“${word}” is not a comparison.` : "A comparison is missing."} Use >, >=, <, <=, = or !=.`,
      query_number: (/** @type {any} */ { word }) =>
        `${word ? `“${word}” is not a number.` : "A number to compare with is missing."} Write one such as 10, 1e-3 or 50%.`,
      query_nothing: (/** @type {any} */ { pattern }) =>
        `No operation has a name like ${pattern}. The pattern has to fit the whole name, as in *relu*.`,
      unknown: (/** @type {any} */ { name }) =>
        `The training step does not have an operation named ${name}.`,
      no_output: () => "This operation has no value: it only makes others run together.",
      not_floating: (/** @type {any} */ { dtype }) =>
        `It has no gradient, because its values are ${dtype}: only floating-point values can change a little.`,
      no_loss: () =>
        "The program does not differentiate a loss, so there is nothing to take the gradient of.",
      independent: () =>
        "It has no gradient: the loss does not depend on it, or only through an operation that blocks gradients.",
      no_rule: (/** @type {any} */ { message }) => `It has no gradient: ${message}`,
      no_sample: (/** @type {any} */ { sample, count }) =>
        `There is no sample ${sample}: the data set has samples 0 to ${count - 1}.`,
      needs_feed: (/** @type {any} */ { name }) =>
        `Its value depends on the placeholder ${name}, and no run has fed it together with the others that are needed, or they are larger than the page keeps.`,
      no_session: () =>
        "Its value was in a session that the program has closed, and is too large to be kept. Leave the session open to see it.",
      not_run: () =>
        "The program has built this graph, but not run it: train the model, or run the graph with a session.",
      restored: () =>
        "The weights were restored without their program. Press Run or Resume to look inside.",
      no_program: () => "Python does not have this graph any more. Press Run to look inside.",
      asynchronous: () =>
        "With asynchronous training, each replica has weights of its own, so there is not one value to show. Train on one device to look inside.",
    },
  },
  runs: {
    title: "Runs",
    theComparison: "the comparison",
    saveReport: "Save report",
    saveReportAbout: "The runs whose curves are shown, as one HTML file",
    saveCsv: "Save as CSV",
    clear: "Clear",
    clearAbout: "Remove all runs that are not pinned",
    none: "Each run that trains is kept here, with its code, its settings and its curve.",
    run: (/** @type {number} */ number, /** @type {string} */ title) => `run ${number}, ${title}`,
    edited: (/** @type {string} */ title) => `${title}, edited`,
    untitled: "Your program",
    table: "Table of runs",
    sortBy: "Sort by",
    columns: {
      elo: "Elo",
      number: "Run",
      step: "Steps",
      seconds: "Time",
      loss: "Loss (trend)",
      testAccuracy: "Test accuracy",
    },
    changes: "Changed since the run before",
    actions: "Actions",
    showCurve: "Show its curve",
    curve: (/** @type {number} */ run) => `Curve of run ${run}`,
    lab: (/** @type {string} */ strategy) => `Lab: ${strategy}`,
    report: "Save a report as HTML",
    reportOf: (/** @type {number} */ run) => `Save a report of run ${run}`,
    pin: "Pin: keep this run",
    mostPinned: (/** @type {number} */ most) =>
      `${most} runs are pinned, the most that a session holds. Unpin another first.`,
    moreChanges: (/** @type {number} */ count) =>
      count === 1 ? "and 1 more change" : `and ${count} more changes`,
    unpin: "Unpin",
    pinThis: (/** @type {number} */ run) => `Pin run ${run}`,
    remove: "Remove",
    removeThis: (/** @type {number} */ run) => `Remove run ${run}`,
    code: (/** @type {number} */ run) => `Code of run ${run}`,
    comparedCode: (/** @type {number} */ run, /** @type {number} */ before) =>
      `Code of run ${run}, compared with run ${before}`,
    isInEditor: "In the editor",
    restore: "Restore code",
    isSame: "The code is the same.",
    added: "added: ",
    removed: "removed: ",
    anotherProgram: (/** @type {string} */ title) => `another program: ${title}`,
    device: (/** @type {string} */ before, /** @type {string} */ after) =>
      `device ${before} → ${after}`,
    inLab: "in the Lab",
    notInLab: "not in the Lab",
    labSettings: {
      strategy: "strategy",
      devices: "devices",
      micro_batches: "micro batches",
      schedule: "schedule",
      chunks: "chunks",
      collective: "collective",
      staleness: "staleness",
      every: "every",
      delays: "delays",
      steps: "steps",
    },
    labChange: (
      /** @type {string} */ setting,
      /** @type {string} */ before,
      /** @type {string} */ after,
    ) => `${setting} ${before} → ${after}`,
    nothing: "nothing",
    whileTraining: (/** @type {string} */ setting, /** @type {string} */ values) =>
      `${setting} ${values} while training`,
  },
  summary: {
    title: "In words",
    epochs: (/** @type {number} */ number) =>
      `, which is ${plural(number, "pass", "passes")} over the data`,
    trained: (
      /** @type {number} */ parameters,
      /** @type {number} */ steps,
      /** @type {string} */ epochs,
      /** @type {string} */ time,
      /** @type {string} */ device,
    ) =>
      `A network with ${plural(parameters, "adjustable number", "adjustable numbers")} trained for ${plural(steps, "step")}${epochs}; it took ${time} on ${device}.`,
    ran: (
      /** @type {number} */ steps,
      /** @type {string} */ epochs,
      /** @type {string} */ time,
      /** @type {string} */ device,
    ) => `The network trained for ${plural(steps, "step")}${epochs}; it took ${time} on ${device}.`,
    ofLastFit: (/** @type {string} */ sentence) =>
      `${sentence} These are the numbers of the last of several fits.`,
    lossFell: (/** @type {string} */ from, /** @type {string} */ to) =>
      `Its loss, which says how wrong it is, fell from ${from} to ${to}: it learnt.`,
    lossStayed: (/** @type {string} */ from, /** @type {string} */ to) =>
      `Its loss, which says how wrong it is, went from ${from} to ${to}: it hardly learnt.`,
    lossGrew: (/** @type {string} */ from, /** @type {string} */ to) =>
      `Its loss, which says how wrong it is, grew from ${from} to ${to}: it did not learn.`,
    lossLost: "Its loss, which says how wrong it is, is no longer a number: the training was lost.",
    tested: (/** @type {string} */ accuracy, /** @type {number | null} */ oneIn) =>
      `Of examples that it had never seen it gets ${accuracy} right${oneIn === null ? ", all of them" : oneIn > 1 ? `: about one mistake in ${count(oneIn)}` : ""}.`,
    testedLoss: (/** @type {string} */ loss) =>
      `On data that it had never seen its loss is ${loss}.`,
    untested:
      "While it trained, it was not tested on data that it had never seen; with validation_data, fit does that.",
    understood: (/** @type {string} */ accuracy) =>
      `Of its training samples it gets ${accuracy} right, hardly more, so it has learnt the rule and not the examples by heart.`,
    byHeart: (/** @type {string} */ accuracy, /** @type {string} */ points) =>
      `Of its training samples it gets ${accuracy} right, ${points} points more, so it has learnt some of them by heart; more data or Dropout may help.`,
    bothLosses: (/** @type {string} */ train, /** @type {string} */ test) =>
      `On the data that it trained on its loss is ${train}, against ${test} on new data: the closer they are, the less it has learnt by heart.`,
    unknown:
      "Whether it has learnt the rule or the examples by heart, only a test on new data can tell.",
    lower: "Try again with a much lower learning rate.",
    unfinished: (/** @type {number} */ step, /** @type {number} */ total) =>
      `It ended at step ${count(step)} of ${count(total)}, so there may be more in it.`,
    stillFalling: (/** @type {string} */ percent) =>
      `In the last fifth of the training the loss still fell by ${percent}: more epochs may help.`,
    slow: (/** @type {string} */ percent) =>
      `In the last fifth of the training the loss changed by only ${percent}, although it is not far below the first one: a higher learning rate or another network may do more than more epochs.`,
    settled: (/** @type {string} */ percent) =>
      `In the last fifth of the training the loss changed by only ${percent}: more epochs alone would do little.`,
  },
  report: {
    run: (/** @type {number} */ number, /** @type {string} */ title) => `Run ${number}: ${title}`,
    runs: (/** @type {number} */ number) => `${number} runs`,
    saved: (/** @type {string} */ when, /** @type {string} */ versions) =>
      `Saved ${when} UTC${versions && `, with ${versions}`}`,
    columns: {
      run: "Run",
      program: "Program",
      steps: "Steps",
      time: "Time",
      loss: "Loss",
      testAccuracy: "Test accuracy",
    },
    facts: {
      program: "Program",
      began: "Began",
      device: "Device",
      seed: "Seed",
      result: "Result",
      loss: "Loss",
      accuracy: "Accuracy",
      testAccuracy: "Test accuracy",
      changed: "Changed while training",
      changes: "Changed since the run before",
    },
    utc: (/** @type {string} */ when) => `${when} UTC`,
    device: (/** @type {string} */ ranOn, /** @type {string} */ chosen) =>
      `${ranOn} (chosen: ${chosen})`,
    lab: (/** @type {string} */ setting) => `Lab: ${setting}`,
    result: (
      /** @type {string} */ state,
      /** @type {number} */ step,
      /** @type {number} */ total,
      /** @type {string} */ duration,
    ) => `${state} after ${count(step)} of ${count(total)} steps in ${duration}`,
    isFirst: "this is the first one",
    defaultSeed: "0, the default; other seeds are in the program",
    loss: "Loss",
    program: "Program",
    byStep: "Loss by step",
    sampleByStep: "Loss at some of the steps",
    endsAt: (/** @type {number} */ run, /** @type {string} */ loss) => `run ${run} ends at ${loss}`,
    legend: (/** @type {number} */ run) => `run ${run}`,
    step: "step",
    table: { step: "Step", loss: "Loss" },
    failed: (/** @type {string} */ reason) => `The report was not saved: ${reason}`,
  },
  lab: {
    opensSoon: "The Lab opens when Python is ready.",
    howFast: "How fast is this machine?",
    outOfBounds: (
      /** @type {string} */ setting,
      /** @type {string} */ value,
      /** @type {string} */ usual,
    ) =>
      `The Lab's setting “${setting}” was out of bounds (${value}). It is ${usual || "empty"} now.`,
    setup: "Setup",
    run: "Run this setup",
    stop: "Stop",
    trace: { label: "Trace a step", about: "Measure the next step" },
    /** A title or an explanation of the Lab's choices, which Python has in English. */
    said: (/** @type {string} */ text) => text,
    /** The title of a run, which is kept in English: "Pipeline, 1F1B, 8 micro-batches". */
    titled: (/** @type {string} */ title) => title,
    fields: {
      strategy: "Strategy",
      kind: "Kind of devices",
      schedule: "Schedule",
      collective: "Collective",
      allowed: (/** @type {number} */ least, /** @type {number} */ most) =>
        `Allowed: ${least} to ${most}. `,
      any: "any",
    },
    devices: {
      auto: {
        title: "Automatic",
        about: "The program's choice, otherwise GPU workers if the browser has a hardware GPU.",
      },
      gpu: { title: "GPU workers", about: "Each device has its own worker and its own GPUDevice." },
      cpu: {
        title: "NumPy workers",
        about:
          "cpu:0 is the page's own Python. Every other device is a worker with its own Python.",
      },
    },
    delays: {
      title: "Delays, ms",
      about:
        "Delays every task on a device by this time, to show how a slow device affects the others.",
      device: (/** @type {number} */ place) => `Device ${place}`,
    },
    speed: {
      shareGpu: (/** @type {string} */ gpu, /** @type {number} */ devices) =>
        `All GPU workers share one GPU here (${gpu}), so ${devices} of them are no faster than one.`,
      shareCores: (/** @type {number} */ cores, /** @type {number} */ devices) =>
        `This machine has ${cores} cores, so ${devices} NumPy workers are at best ${Math.min(cores, devices)} times as ` +
        "fast as one, and slower than one if layers are small.",
      honestly: (/** @type {string} */ shared, /** @type {string} */ measured) =>
        `${shared} Moving tensors takes extra time. The order of work, the waiting and the traffic are real. ${measured}`,
      withoutDelays: "Run it without delays to see the measured speedup here.",
      oneFirst: "Run one device first, then a strategy, to see the measured speedup here.",
      measured: (
        /** @type {number} */ run,
        /** @type {number} */ devices,
        /** @type {string} */ kind,
        /** @type {string} */ times,
      ) =>
        `Measured: run ${run}, on ${devices} ${kind} devices, was ${times} times as fast as one device.`,
    },
    compare: {
      title: "Comparison",
      clear: "Clear",
      empty: "Each run in the Lab appears here, with its speed, waiting time and loss.",
      label: "Runs compared",
      columns: {
        run: "Run",
        devices: "Devices",
        msPerStep: "ms per step",
        speedup: "Speedup",
        efficiency: "Efficiency",
        waiting: "Waiting",
        moved: "Moved",
        loss: "Loss",
        remove: "Remove",
      },
      abouts: {
        speedup: "Speed relative to the last run of this program on one device",
        efficiency: "Speedup divided by the number of devices",
        moved: "Bytes between devices, per step",
      },
      show: "Show the timeline of this run",
      inState: (/** @type {string} */ title, /** @type {string} */ state) => `${title} (${state})`,
      edited: (/** @type {string} */ example) => `${example}, edited`,
      remove: (/** @type {number} */ run) => `Remove run ${run}`,
    },
    states: {
      running: "running",
      paused: "paused",
      stopped: "stopped",
      done: "done",
      error: "error",
      idle: "idle",
      "no fit() was called": "no fit() was called",
    },
    timeline: {
      title: (/** @type {number} */ steps) =>
        `Timeline of ${steps === 1 ? "one step" : `${steps} steps`}`,
      noRun: "Run a strategy to see when each device computes, moves tensors and waits.",
      soon: "A step is measured shortly after training starts.",
      ended: "This run ended before a step was measured. Train a few more steps.",
      lost: (/** @type {string} */ device, /** @type {string} */ reason) =>
        `${device} was lost; the others continued. Reason: ${reason}`,
      bubble: "Waiting (bubble)",
      waiting: "Waiting",
      formula: (/** @type {string} */ share) => `formula ${share}`,
      communication: "Moving tensors",
      ofTime: "of the time",
      moved: "Moved per step",
      onAverage: "on average",
      memory: "Memory",
      onAll: "on all devices",
      speed: "Steps per second",
      traced: "Traced time",
      staleness: "Staleness",
      updatesOnAverage: "updates, on average",
      track: (/** @type {string} */ device, /** @type {number} */ tasks) =>
        `${device}: ${tasks} tasks. Arrow keys move between them.`,
      hint: "Point at a task, or move along a track with the arrow keys.",
      task: (
        /** @type {{device: string, kind: string, took: string, size: string, start: string, name: string}} */ {
          device,
          kind,
          took,
          size,
          start,
          name,
        },
      ) => `${device}: ${kind}, ${took} ms${size && `, ${size}`}, from ${start} ms (${name})`,
      legend: "Colours",
      pale: (/** @type {string} */ kind) => `${kind} (pale)`,
      idle: "waiting",
    },
    /** Kinds of work. */
    kinds: {
      input: "input",
      forward: "forward",
      gradient: "gradient",
      update: "update",
      receive: "receive",
      send: "send",
      delay: "delay",
    },
    times: {
      label: "Times of each device",
      caption: "Milliseconds, transfers and memory of each device",
      device: "Device",
      waiting: "waiting",
      sent: "sent",
      received: "received",
      memory: "memory",
      updates: "updates",
    },
    placement: {
      title: "Where each operation runs, and why",
      measuring:
        "Measuring the operations that have not been measured yet. This takes a second or two.",
      replicas:
        "Each replica computes gradients with a copy of these operations on its own device. The table shows the " +
        "step of the device that holds the weights.",
      label: "Devices of the operations",
      caption: "Operations of the last training step, by scope",
      scope: "Scope",
      noScope: "no scope",
      device: "Device",
      operations: "Operations",
      reason: "Reason",
      names: (/** @type {string[]} */ first, /** @type {number} */ others) =>
        `${first.join(", ")}${others > 0 ? ` and ${others} more` : ""}`,
    },
  },
  /** The timeline of a measured step, below the graph. */
  shrink: {
    title: "Shrink the network",
    loading: "Loading…",
    about:
      "How small can this network be? One click makes smaller copies of it, with fewer bits for each weight, with weights left out, or with weights that share a few values, and shows what each saves and what it costs. The network itself stays as it is.",
    untrained: "Train a network first: press Run. Then try here how small it can be.",
    whileTraining: "Once the training has ended, try here how small the network can be.",
    restored:
      "This network was kept from an earlier visit, without its data. Press Run or Resume: then there is data to compare smaller copies on.",
    begin: "Try 10 ways",
    again: "Try again",
    stop: "Stop",
    resume: (/** @type {string} */ left) => `Go on (${left} left)`,
    progress: (/** @type {number} */ ready, /** @type {number} */ all) =>
      all > 0 ? `${ready} of ${all}` : "Starting…",
    ready: (/** @type {number} */ count) => `${plural(count, "version")} ready.`,
    measuring: "Measuring the network itself…",
    comparedOn: (
      /** @type {boolean} */ tested,
      /** @type {number | null} */ samples,
      /** @type {number} */ total,
    ) => {
      const some =
        samples === null || samples >= total
          ? `all ${count(total)}`
          : `${count(samples)} of ${count(total)}`;
      return tested
        ? `Compared on ${some} test samples.`
        : `This program has no test data, so the copies are compared on ${some} training samples: on new data, the network does worse than shown here.`;
    },
    tap: "Choose a version to see its layers, to try it out, or to save it.",
    thePicture: "the picture of size and accuracy",
    picture: (/** @type {string[]} */ front) =>
      front.length > 0
        ? `Size against quality of each version. Not beaten by any other: ${front.join("; ")}.`
        : "Size against quality of each version",
    axisBytes: "bytes of the weights, gzip",
    axisAccuracy: "accuracy",
    axisLoss: "loss (lower is better)",
    front: "Pareto front: no other version is smaller and as good",
    beaten: "another version is smaller or better",
    onFront: "on the Pareto front",
    pointTitle: (
      /** @type {string} */ name,
      /** @type {string} */ bytes,
      /** @type {string} */ value,
    ) => `${name}: ${bytes}, ${value}`,
    table: "Versions of the network",
    columns: {
      version: "version",
      bytes: "gzip",
      smaller: "smaller",
      accuracy: "accuracy",
      loss: "loss",
      change: "change",
      points: "change in points",
      front: "Pareto front",
    },
    waiting: "waiting",
    working: "working…",
    original: "float32",
    sparsity: (/** @type {number} */ percent) => `${percent}% zeros`,
    clusters: (/** @type {number} */ clusters) => `${clusters} values`,
    abouts: {
      original: "The network as it was trained, with 32 bits for each weight.",
      float16: "Each weight is rounded to 16 bits instead of 32.",
      int8: "Weights and values between layers are 8-bit integers, and so is the arithmetic: a microcontroller can run it.",
      int4: "Each weight is one of 15 multiples of a scale, in 4 bits; the network computes with floats.",
      sparsity:
        "The smallest weights of the network are 0, and a file stores only the others and where they are.",
      clusters: "The weights of a layer share a few values; a file stores which of them each has.",
    },
    reportTitle: (/** @type {string} */ name) => `Version: ${name}`,
    reporting: "Comparing layer by layer…",
    tryIt: "Try it in Watch",
    back: "Back to the full network",
    toReport: "Its report",
    badge: (/** @type {string} */ name, /** @type {string} */ bytes) =>
      `The smaller network answers: ${name}, ${bytes}.`,
    tune: "Fine-tune for an epoch",
    tuneAbout: "Trains this version once over the training data. It stays as small.",
    stopTuning: (/** @type {string} */ share) => `Stop fine-tuning (${share})`,
    tuned: (
      /** @type {number} */ epochs,
      /** @type {string} */ before,
      /** @type {string} */ after,
    ) => `Fine-tuned for ${plural(epochs, "epoch")}: ${before} before, ${after} now.`,
    tuningFailed: (/** @type {string} */ reason) => `The fine-tuning was undone: ${reason}`,
    before: "full",
    after: "this one",
    totals: {
      gzip: "weights, gzip",
      raw: "weights",
      multiplyAdds: "multiply-adds for a sample",
      latency: (/** @type {string} */ device) => `time for a sample here (${device})`,
    },
    layers: "Layer by layer",
    layerColumns: {
      layer: "layer",
      form: "form",
      raw: "bytes",
      gzip: "gzip",
      multiplyAdds: "multiply-adds",
      ratio: "signal to noise",
    },
    ratioAbout:
      "The power of the layer's output in the full network over the power of the error in this one. 20 dB: the error is a tenth of the output; 40 dB: a hundredth.",
    exact: "exact",
    worst: (/** @type {string} */ layers) => `Farthest from the full network: ${layers}.`,
    reason: (
      /** @type {string} */ layer,
      /** @type {string} */ form,
      /** @type {string} */ reason,
    ) => `${layer} (${form}): ${reason}`,
    formats: {
      safetensors: { title: "safetensors", about: "Packed weights, which pg.load_model opens" },
      npz: { title: "NumPy", about: "Weights that numpy.load opens" },
      onnx: { title: "ONNX", about: "For ONNX Runtime and tools in many languages" },
      tflite: { title: "TFLite", about: "For TensorFlow Lite, on phones and microcontrollers" },
      c: { title: "C", about: "C99 without allocation or libraries, for a microcontroller" },
    },
    exportFailed: (/** @type {string} */ reason) => `The smaller network was not saved: ${reason}`,
  },
  execution: {
    title: "Timeline of a step",
    measure: "Measure a step",
    again: "Measure again",
    measuring: "Measuring a step",
    about: "Run one training step and time each of its operations. The weights stay as they are.",
    apart: "one kernel per operation",
    apartAbout:
      "On a GPU, small operations share kernels while the network trains. This gives each a kernel of its own, so that each has a time; a step takes longer then.",
    failed: (/** @type {string} */ reason) => `No step was measured: ${reason}`,
    nothing: "This step has no operations.",
    summary: (/** @type {number} */ operations, /** @type {string} */ took) =>
      `${took} ms in ${count(operations)} ${operations === 1 ? "part" : "parts"}`,
    zoom: "Zoom and save",
    zoomIn: "Zoom in (+)",
    zoomOut: "Zoom out (−)",
    fit: "Show the whole step (0)",
    save: "Trace",
    saveAbout: "Save the trace as a file for chrome://tracing or ui.perfetto.dev",
    hint: "Point at a bar, or move along a track with the arrow keys. A click or Enter shows the operation in the graph.",
    kernel: (/** @type {string} */ kind, /** @type {string} */ kernel) =>
      `${kind}, kernel ${kernel}`,
    notInGraph: (/** @type {string} */ name) =>
      `The compiler added ${name}; it is not in the graph.`,
    leftOut: (/** @type {number} */ others) =>
      `${count(others)} later operations are only in the saved trace.`,
    clock: (
      /** @type {string} */ device,
      /** @type {string} */ words,
      /** @type {string} */ trip,
    ) => `${device}: ${words}${trip && ` An empty call alone takes ${trip} ms.`}`,
    clocks: {
      timestamps: "timed by the GPU, which writes a timestamp around each kernel.",
      waits:
        "each kernel was submitted alone and waited for, which takes longer than within a step.",
      operations: "the operations ran one after the other on one thread.",
      segments: "each segment was timed as a whole.",
    },
    table: "Slowest operations",
    operation: "Operation",
    device: "Device",
    kind: "Kind",
    time: "ms",
    share: "Share",
    others: (/** @type {number} */ others) => `${count(others)} others`,
  },
  /** A step operation by operation, below the graph. */
  operations: {
    title: "Operation by operation",
    about:
      "Run one training step on copies of the variables, and go through it operation by operation. The weights stay as they are.",
    asking: "Running a step",
    failed: (/** @type {string} */ reason) => `There is no step to go through: ${reason}`,
    hint: "The step was run on copies by NumPy, in the order of the executor. Arrow keys go forward and back, Home and End to the ends. In the graph, ready operations have a thick dashed frame, and the one that ran last a filled box.",
    leftOut: (/** @type {number} */ others) => `${count(others)} later operations are not shown.`,
    back: "Back",
    forward: "Forward",
    position: "Operations that have run",
    place: (/** @type {number} */ done, /** @type {number} */ all) =>
      `${count(done)} of ${count(all)}`,
    again: "Run again",
    againAbout: "Run the step again with the current weights",
    close: "Close",
    queue: (/** @type {number} */ number) => `Ready queue (${count(number)})`,
    waiting: (/** @type {number} */ number) => `Waiting (${count(number)})`,
    devices: "Devices",
    next: (/** @type {string} */ device) => `next, ${device} takes it`,
    more: (/** @type {number} */ others) => `and ${count(others)} more`,
    allDone: "All operations have run.",
    fell: (/** @type {number} */ before, /** @type {number} */ after) =>
      after === 0 ? `${before} → 0, ready` : `${before} → ${after}`,
    nothingYet: "nothing yet",
    ran: (/** @type {string} */ op, /** @type {string} */ device) => `${op} on ${device}.`,
    dispatch: (/** @type {number} */ number, /** @type {string} */ kernel) =>
      kernel === "group"
        ? `While the network trains, dispatch ${number} computes it, merged with others.`
        : `While the network trains, dispatch ${number} computes it, with the kernel ${kernel}.`,
    members: "Fused into it:",
    values: "Inputs and outputs",
    tensor: "Tensor",
    shape: "Shape",
    input: "input",
    output: "output",
    passes: (/** @type {number} */ groups) =>
      `Passes of the compiler, ${count(groups)} fused ${groups === 1 ? "operation" : "operations"}`,
    passTable: "Passes of the compiler",
    pass: "Pass",
    does: "What it does",
    before: "Nodes before",
    after: "After",
    passNames: {
      prune: "keeps what the step needs",
      specialise: "fills in unknown dimensions, and resolves operations that only read shapes",
      fold: "computes constants",
      share: "merges equal operations",
      place: "gives each operation a device",
      mixed: "rounds the operands of products to float16, in mixed precision",
      guard: "adds checks of indices that are computed on a GPU",
      sort_once: "sorts the numbers of segments once for all operations with the same ones",
      roll: "makes the steps of a recurrent layer one kernel on a GPU",
      split: "adds a send and a receive on edges between devices",
      fuse: "joins operations into one kernel",
      join_rows: "makes what a transformer computes position by position one kernel on a GPU",
      order: "makes readers of a variable run before its update",
    },
    fused: "Fused operation",
    kernel: "Kernel",
    contains: "Contains",
  },
  share: {
    title: "Share",
    about: "Make a link to this program",
    contains: "The link contains the code and the settings.",
    hasLosses:
      "A few losses of the run are in it, so that others can see whether their run gives the same.",
    hasNoLosses: "It has no losses to compare yet: run the program as it is now to add them.",
    isPrivate: "Nothing is sent to a server.",
    link: "Link to this program",
    copy: "Copy",
    qrCode: "QR code",
    hide: "For a lesson, hide",
    parts: { gallery: "Gallery", blocks: "Blocks", output: "Output" },
    copied: "The link is copied.",
    copyByHand: "The browser does not allow copying here. The link is selected: press Ctrl+C.",
    noQrCode: (/** @type {string} */ reason) =>
      `The QR code could not be loaded: ${reason}. Copy the link instead.`,
    qrTooLong: (/** @type {number} */ characters, /** @type {number} */ most) =>
      `This program is too long for a QR code: its link has ${count(characters)} characters of at most ${count(most)}. Copy the link instead.`,
    qrDense: "The program is long, so the code is dense. Show it large, or send the link.",
    qrPicture: "QR code of the link",
    qrLarge: "Show it large, for a class",
    qrClose: "Close the QR code",
    hidden: (/** @type {string[]} */ parts) => `Hidden: ${parts.join(", ")}`,
    showAll: "Show the whole page",
    noLosses: "This program came with a link, without losses to compare.",
    arrived: "This program came with a link. Read it, then press Run: it runs in this page only.",
    arrivedWithLosses: (/** @type {string} */ device) =>
      `This program came with a link, with the losses of a run on ${device}. Read it, then press Run: it runs in this page only.`,
    changed: "The code is no longer that of the link, so its losses are not compared.",
    differs: (
      /** @type {number} */ step,
      /** @type {string} */ here,
      /** @type {string} */ there,
      /** @type {string} */ device,
    ) =>
      `The loss differs from the link's from step ${step} on: ${here} here, ${there} there, on ${device}.`,
    reproduced: (/** @type {number} */ steps, /** @type {string} */ accuracy) =>
      `Reproduced: the losses of ${steps} steps equal the link's, ${accuracy}.`,
    exactly: "to the last digit",
    within: (/** @type {string} */ percent) => `to within ${percent}%`,
    soFar: (/** @type {number} */ compared, /** @type {number} */ all) =>
      `The same as in the link up to here: ${compared} of ${all} losses compared.`,
  },
  locks: {
    title: "Lock lines",
    lines: (/** @type {LineRange[]} */ ranges) => capitalized(lines(ranges)),
    arrived: (/** @type {LineRange[]} */ ranges) =>
      `${capitalized(lines(ranges))}: locked by the author of the link that was opened here. A link from here locks them, too.`,
    about:
      "The recipient of the link can change locked lines only after unlocking a copy: this guides a class, it is not a protection.",
    unlock: "Unlock",
    unlockLines: (/** @type {LineRange} */ range) => `Unlock ${lines([range])}`,
    lockLines: (/** @type {LineRange} */ range) => `Lock ${lines([range])}`,
    selected: "The lines that are selected in the code",
    select: "Select other lines in the code to lock them.",
    unlockCopy: "Unlock a copy",
    unlockCopyAbout: "All lines can be changed then. The link stays as it is.",
    byAuthor: (/** @type {LineRange[]} */ ranges) =>
      `${capitalized(lines(ranges))} ${isOneLine(ranges) ? "is" : "are"} locked by its author.`,
    held: "Locked by the author of this link.",
    replaced: (/** @type {number} */ replaced, /** @type {number} */ left) =>
      `${count(replaced)} replaced, ${count(left)} ${left === 1 ? "is" : "are"} locked.`,
    heldHere: (/** @type {LineRange} */ range) =>
      `${capitalized(lines([range]))}: locked by the author of this link`,
    forLinks: (/** @type {LineRange} */ range) =>
      `${capitalized(lines([range]))}: locked for recipients of a link`,
    tooMany: (/** @type {number} */ most) =>
      `A program can have ${most} ranges of locked lines. Unlock some, or lock longer ones.`,
    unlocked: "This copy is yours now: every line can be changed. The link stays as it is.",
  },
  watching: {
    waiting: "Waiting for the training…",
    asOf: "As it was when the connection was lost.",
    states: {
      connecting: "Connecting",
      live: "Live",
      lost: "Connection lost",
      refused: "Refused",
      ended: "Ended",
      away: "No answer",
    },
    notes: {
      connecting: (/** @type {string} */ address) => `Connecting to ${address}…`,
      lost: (/** @type {string} */ address, /** @type {string} */ reason) =>
        `There is no connection to ${address} (${reason}). The page keeps trying; the training does not depend on it.`,
      refused: (/** @type {string} */ address, /** @type {string} */ reason) =>
        `${address} does not show the training: ${reason}.`,
      ended: (/** @type {string} */ address) =>
        `The training at ${address} has ended. Another one that begins there will be shown.`,
      away: () =>
        "This page's own server does not answer. Start `playgrad watch` again, or close other tabs of it. The training does not depend on it.",
    },
    /** Python's words for some reasons; it has others, of the system. @type {Record<string, string>} */
    reasons: {
      "nothing listens there": "nothing listens there",
      "nothing has arrived for a while": "nothing has arrived for a while",
      "the connection was closed": "the connection was closed",
      "the token is missing or wrong": "the token is missing or wrong",
      "too many readers watch this training already":
        "too many readers watch this training already",
    },
    readOnly: "read only",
    readOnlyAbout: (/** @type {string} */ host) =>
      `This page shows what happens${host && ` on ${host}`} and cannot change it`,
    cannotEdit: "Read only: this program runs elsewhere",
    cannotRun: (/** @type {string} */ host) =>
      `Read only: this training is controlled where it runs${host && `, on ${host}`}`,
  },
  embed: {
    copy: "Copy embed snippet",
    snippet: "Embed snippet",
    copied:
      "The snippet is copied: HTML for a page of yours. The program is in it, and runs in the frame where the browser " +
      "permits that; elsewhere the frame shows it, with a button that opens playgrad.",
    copyByHand: "The browser does not allow copying here. Select the snippet, and press Ctrl+C.",
    isForbidden: "This server does not let other sites embed programs. Share the link instead.",
    frame: (/** @type {string} */ program) => `${program}, in playgrad`,
    aProgram: "A program",
    open: "Open in playgrad",
    program: "Show the program",
    noProgram: "Hide the program",
    openPlaygrad: "Open playgrad",
    still: "Not running here",
    noMemory:
      "Python cannot run inside this page: the browser gives the frame no shared memory. The program runs in a tab of its own.",
    isEmpty:
      "The address of this frame has no program. Copy the embed snippet again, under Share in playgrad.",
  },
  link: {
    tooLong: "The program is too long for a link. Save the code as a file and send that.",
    broken: (/** @type {string} */ reason) =>
      `The link could not be opened, because ${reason}. Ask for it again, and copy it whole.`,
    isTooLong: "it is too long",
    isDamaged: "a part of it is missing or changed",
    locksOther: "it locks lines that its program does not have",
    isNewer: "The link was made by a later version of playgrad. Update this one to open it.",
    didNotOpen:
      "Twice, the page could not be opened with this link, so it started without it. Open the link again to try once more.",
    noCompression:
      "This browser has no CompressionStream, which links with programs need. Update it, or send the code as a file.",
  },
  exporting: {
    title: "Export",
    about: "Save the program, the weights, the run or the project as a file",
    program: { title: "Program", about: "The code. Runs here, and on the desktop with playgrad" },
    weights: {
      title: "Weights",
      about: "With the layers: pg.load_model opens it, as do libraries that read safetensors",
      lacks: "compile settings, optimizer state",
    },
    weightsForNumPy: {
      title: "Weights for NumPy",
      about: "Opened by numpy.load, and by this page",
      lacks: "layers, compile settings, optimizer state",
    },
    onnx: {
      title: "ONNX model",
      about: "The graph that predicts: ONNX Runtime and tools of many languages open it",
      lacks: "compile settings, optimizer state",
    },
    keras: {
      title: "Keras model",
      about: "Layers, weights and compile settings: keras.models.load_model opens it",
      lacks: "optimizer state",
    },
    pytorch: {
      title: "PyTorch module",
      about: "A zip file with model.py and the weights: predicts and trains further in PyTorch",
      lacks: "compile settings, optimizer state, regularizers, constraints",
    },
    tfjs: {
      title: "TensorFlow.js model",
      about:
        "A zip file with model.json and the weights: unpack it, and tf.loadLayersModel opens it",
      lacks: "compile settings, optimizer state, initializers, regularizers, constraints",
    },
    script: {
      title: "Script that predicts",
      about: "The trained network as Python: needs NumPy, nothing else",
      lacks: "compile settings, optimizer state",
    },
    page: {
      title: "Page that predicts",
      about: "The trained network as one HTML file: opens in any browser, without a network",
      lacks: "compile settings, optimizer state",
    },
    report: (/** @type {number | null} */ run) => ({
      title: run === null ? "Report of a run" : `Report of run ${run}`,
      about: "Settings, code and curves as a page without scripts",
    }),
    project: {
      title: "Project, with all of these",
      about: "Opened by this page: drop it anywhere",
    },
    without: (/** @type {string} */ lacks) => `Not in it: ${lacks}`,
    noWeights: "There are weights to save once a network has trained.",
    weightsFailed: (/** @type {string} */ reason) => `The weights were not saved: ${reason}`,
    projectFailed: (/** @type {string} */ reason) => `The project was not saved: ${reason}`,
    damagedOnTheWay: (/** @type {string} */ file) =>
      `Nothing was saved, because ${file} was damaged on its way from Python. Press Save again. If it happens again, reload the page.`,
    damagedCopy: (/** @type {string} */ file) =>
      `Nothing was saved, because the browser's copy of ${file} is damaged. Press Save again. If it happens again, reload the page.`,
  },
  projects: {
    title: "Projects",
    label: (/** @type {string} */ name) => `Project: ${name}`,
    about: (/** @type {string} */ name) => `Project: ${name}. Rename, duplicate, save, open`,
    untitled: "Untitled",
    name: "Name",
    new: "New",
    newAbout: "Begin a new project; this one stays in the list",
    duplicate: "Duplicate",
    duplicateAbout: "Go on with a copy, weights included",
    save: "Save as file",
    saveAbout: (/** @type {string} */ ending) => `Save everything as one ${ending} file`,
    open: "Open file…",
    openAbout: (/** @type {string} */ ending) =>
      `Open a ${ending} file. It can also be dropped anywhere on the page`,
    isBusy: "Stop the run to open, duplicate or begin a project.",
    removed: (/** @type {string} */ name) => `Removed: ${name}`,
    others: "Other projects in this browser",
    none: "None yet. Everything is saved by itself. A project with a name stays until you remove it; of projects without one, the last ten stay.",
    unguarded:
      "This browser has no Web Locks, so each reload continues a copy, and the original stays here without its name.",
    edited: (/** @type {string} */ title) => `${title}, edited`,
    isOpen: "open in another tab",
    state: (/** @type {string} */ progress, /** @type {string} */ when) => `${progress} · ${when}`,
    remove: "Remove",
    removeThis: (
      /** @type {string} */ name,
      /** @type {string} */ title,
      /** @type {string} */ when,
    ) => `Remove ${name}, ${title}, of ${when}`,
    endedWithError: "ended with an error",
    notTrained: "not trained",
    trained: (/** @type {number} */ steps) => `trained, ${count(steps)} steps`,
    errorAt: (/** @type {number} */ step, /** @type {number} */ total) =>
      `error at step ${count(step)} of ${count(total)}`,
    stoppedAt: (/** @type {number} */ step, /** @type {number} */ total) =>
      `stopped at step ${count(step)} of ${count(total)}`,
    stopFirst: "Stop the run first: its steps since the last checkpoint would be lost.",
    isElsewhere: "The project is open in another tab. Close that tab, or continue there.",
    isGone: "The project is no longer there: it was removed in another tab.",
    begun: "A new project. The one before is in the list of projects.",
    copy: (/** @type {string} */ name) => `${name} copy`,
    numberedCopy: (/** @type {string} */ name, /** @type {number} */ number) =>
      `${name} copy ${number}`,
    duplicated: (/** @type {string} */ name) =>
      `This is “${name}”. The original is in the list of projects.`,
    opened: (/** @type {string} */ name) => `“${name}” was opened.`,
    lost: (/** @type {string[]} */ parts) =>
      `The file is damaged, and these parts could not be read: ${parts.join(", ")}. Everything else is here.`,
    dataOf: (/** @type {string} */ name) => `the data “${name}”`,
    withoutData: (/** @type {string[]} */ names) =>
      `The file has everything but the data ${quoted(names)}, which is too large for it or cannot be read.`,
    otherData: (/** @type {string} */ name, /** @type {string} */ kept) =>
      `This browser has other data named “${name}”, so that of the project is “${kept}”: change the line that loads it.`,
    noRoomForData: (/** @type {string[]} */ names) =>
      `There was no room to keep the data ${quoted(names)}. Remove other data, and open the file again.`,
    isUnsaved: "The present project is not saved, so this page stays as it is.",
    isBeingSaved: "It is still being written.",
    isFull:
      "The browser's storage is full, so there is no room for another project. Remove some from the list, and try again.",
    notStored: (/** @type {string} */ reason) =>
      `The browser could not store the project: ${reason}. Nothing has changed. Try again.`,
    notOpened: (/** @type {string} */ file, /** @type {string} */ reason) =>
      `${file} could not be opened: ${reason}`,
  },
  sessions: {
    parts: {
      choices: "the choices",
      run: "the numbers of the run",
      curves: "the curves",
      output: "the output",
      losses: "the losses to compare",
      graph: "the graph",
      runs: "the runs",
      lab: "the runs of the Lab",
      checkpoint: "the weights",
      locks: "the locked lines",
      summary: "the list of sessions",
    },
    codeOf: (/** @type {string} */ example) => `the code of ${example}`,
    restored: (/** @type {string} */ when) => `Restored from ${when}.`,
    unreadable: (/** @type {string[]} */ parts) => {
      const [first, ...rest] = parts.join(" and ");
      return `${first.toUpperCase()}${rest.join("")} could not be read and was put aside; everything else is here.`;
    },
    unread: (/** @type {string} */ reason) =>
      `What was saved here could not be read (${reason}). It is still stored: reload the page to try again.`,
    unopened: {
      about:
        "Twice, the page could not be opened with the saved session, so it started without it. You can find the session under Projects.",
      save: "Save it as a file",
      without: (/** @type {string[]} */ parts) =>
        `The file has everything that could be read. Missing: ${parts.join(", ")}.`,
      nothing: "There is nothing in the session that a file could contain.",
      lost: (/** @type {string[]} */ parts) => `Not readable: ${parts.join(", ")}.`,
      again: "Open it again",
    },
    earlierWeights:
      "The run ended before its weights were saved; the saved ones are from the run before it. Run starts it again.",
    noWeights: "The run ended before its weights were saved. Run starts it again.",
    unavailable: (/** @type {string} */ reason) =>
      `The browser does not store anything for this page (${reason}). ` +
      "Code, curves and weights are lost when you close or reload it. Save the code and the weights as files.",
    codeTooLarge: (/** @type {string} */ size) =>
      `The browser's storage is full, and the code (${size}) does not fit. It is lost when you ` +
      "close or reload this page. Save it as a file, or remove other projects.",
    weightsTooLarge: (/** @type {string} */ size) =>
      `The browser's storage is full, and the weights (${size}) do not fit. They are lost when you ` +
      "close or reload this page. Save them as a file, or remove other projects.",
    full: (/** @type {string[]} */ parts) =>
      `The browser's storage is full. What is not saved: ${parts.join(", ")}. Remove other projects to make room.`,
    database: {
      missing: "it has no IndexedDB",
      blocked: "another tab holds an older version of it open",
      gaveUp: "the browser gave up writing",
      silent: "it does not answer",
    },
  },
  projectFile: {
    tooLarge: (/** @type {string} */ size, /** @type {string} */ most) =>
      `The project is ${size}, and a file may have ${most}. Save the code and the weights as files of their own.`,
    empty: (/** @type {string} */ file) =>
      `“${file}” is empty. Save the project again, or choose another file.`,
    otherFile: (
      /** @type {string} */ file,
      /** @type {string} */ size,
      /** @type {string} */ most,
    ) => `“${file}” is ${size}. Projects have at most ${most}, so this is something else.`,
    farTooMuch: (/** @type {string} */ file) =>
      `“${file}” contains far more than a project. It was not opened.`,
    unreadable: (/** @type {string} */ file, /** @type {string} */ reason) =>
      `“${file}” could not be read: ${reason} Choose it again.`,
    noProject: (/** @type {string} */ file) => `“${file}” is not a project of playgrad.`,
    incomplete: (/** @type {string} */ file, /** @type {string} */ reason) =>
      `“${file}” is incomplete: ${reason}. Copy or download it again.`,
    damaged: (/** @type {string} */ file, /** @type {string} */ reason) =>
      `“${file}” is damaged: ${reason}. Copy or download it again.`,
    isWeights: "Weights are loaded at the end of Watch.",
    isCode: "Copy its code into the editor.",
    chooseEnding: (/** @type {string} */ ending) => `Choose a file that ends in ${ending}.`,
    noProjectZip: (/** @type {string} */ file, /** @type {string} */ ending) =>
      `“${file}” is a zip archive, but not a project of playgrad. Choose a file that ends in ${ending}.`,
    isNewer: (/** @type {string} */ file) =>
      `“${file}” was saved by a later version of playgrad. Update this one to open it.`,
    zip: {
      noEnd: "its end is missing",
      partMissing: "a part of it is missing",
      damagedTable: "its table of contents is damaged",
      damaged: (/** @type {string} */ name) => `${name} is damaged`,
      missing: (/** @type {string} */ name) => `${name} is missing`,
      twice: (/** @type {string} */ name) => `${name} is in it twice`,
      bomb: (/** @type {string} */ name) => `${name} unpacks to more than the archive says`,
      notJson: (/** @type {string} */ name) => `${name} is not JSON`,
      lacking: (/** @type {string} */ name) => `${name} lacks something`,
    },
  },
  trials: {
    title: (/** @type {string} */ field) => `Try several: ${field.toLowerCase()}`,
    open: (/** @type {string} */ field) => `Try several values: ${field.toLowerCase()}`,
    close: "Close",
    values: "Values",
    about:
      "Trains the program once with each value, beside the page. The program itself stays as it is until you keep one.",
    begin: (/** @type {number} */ values) => `Train ${values} times`,
    stop: "Stop",
    wrong: (/** @type {string} */ text, /** @type {string} */ field) =>
      `“${text}” is not a value for ${field.toLowerCase()}.`,
    unclear: (/** @type {string} */ text) =>
      `Is “${text}” one number or several? Write 0.1 for a number, and a space after each comma between numbers.`,
    count: (/** @type {number} */ most) => `Choose 2 to ${most} values.`,
    states: {
      waiting: "waiting",
      running: "training",
      done: "done",
      error: "failed",
      stopped: "stopped",
    },
    testAccuracy: (/** @type {string} */ value) => `test accuracy ${value}`,
    testLoss: (/** @type {string} */ value) => `test loss ${value}`,
    loss: (/** @type {string} */ value) => `loss ${value}`,
    curve: (/** @type {string} */ value) => `Loss with ${value}`,
    best: "best",
    bestIs: (/** @type {string} */ value) => `Best: ${value}.`,
    inRuns: "All of them are in Runs.",
    notReached: "The program ended before it called pg.sweep.",
    keep: (/** @type {string} */ value) => `Keep ${value}`,
  },
  blocks: {
    broken: "The code has a slip in its syntax, so cards may be missing.",
    empty: "No network, data or training of the library is in this program. Code shows all of it.",
    later:
      "What trains is the program as it was started. Run starts this one; only the learning rate applies at once.",
    about: {
      data: "The samples from which the network learns.",
      training:
        "How the network learns: the optimizer changes the weights a little after each batch, so that the loss falls.",
      code: "Blocks shows this part as it is. Change it under Python.",
    },
    /** A card of code, as a title and inside of a sentence. */
    yourCode: "Your code",
    yourCodeInside: "your code",
    calculation: "Calculation",
    network: {
      layers: "Layers",
      layersOf: (/** @type {string} */ name) => `Layers of ${name}`,
      total: (/** @type {number} */ parameters) => `${count(parameters)} parameters`,
      add: "Add a layer",
      addFirst: "Add a layer at the beginning",
      addBefore: (/** @type {string} */ kind, /** @type {number} */ place) =>
        `Add a layer before ${kind}, ${place}`,
      addLast: "Add a layer at the end",
    },
    /** What has just been changed. */
    said: {
      added: (/** @type {string} */ kind, /** @type {number} */ place, /** @type {number} */ of) =>
        `${kind} added, ${place} of ${of}.`,
      removed: (/** @type {string} */ kind, /** @type {number} */ left) =>
        `${kind} removed. ${left} left.`,
      duplicated: (/** @type {string} */ kind) => `${kind} duplicated.`,
      moved: (/** @type {string} */ kind, /** @type {number} */ place, /** @type {number} */ of) =>
        `${kind} moved, ${place} of ${of}.`,
      undone: "Undone.",
      redone: "Done again.",
      set: (/** @type {string} */ field, /** @type {string} */ value) => `${field} ${value}.`,
      data: (/** @type {string} */ title) => `Data: ${title}.`,
    },
    card: {
      about: (/** @type {string} */ title) => `What is ${title}?`,
      aboutThis: "What is this?",
      ofLibrary: "A layer of the library.",
      duplicate: (/** @type {string} */ title) => `Duplicate ${title}`,
      remove: (/** @type {string} */ title) => `Remove ${title}`,
      ran: (/** @type {string[]} */ layers) => `In the last run: ${layers.join(", ")}.`,
      from: (/** @type {string[]} */ cards) => `from ${cards.join(" and ")}`,
      more: "More",
      less: "Less",
      unfit: "does not fit",
      shapeLater: "shape after the first run",
      shapeUnknown: "shape unknown",
      parametersLater: "parameters after the first run",
      parameters: (/** @type {number} */ number) => plural(number, "parameter"),
      shape: "Shape of the result, for one sample",
      shapeBefore: "shape",
      drag: "Drag, or press Alt+↑ or Alt+↓, to move",
      place: (/** @type {string} */ title, /** @type {number} */ place, /** @type {number} */ of) =>
        `${title}, ${place} of ${of}`,
      placeMovable: (
        /** @type {string} */ title,
        /** @type {number} */ place,
        /** @type {number} */ of,
      ) => `${title}, ${place} of ${of}. Alt and arrow keys move it`,
    },
    /** Names of fields. */
    fields: {
      units: "Units",
      activation: "Activation",
      function: "Function",
      bias: "Bias",
      regularization: "Regularization",
      strength: "Strength",
      filters: "Filters",
      window: "Window",
      stride: "Stride",
      padding: "Padding",
      dilation: "Dilation",
      rate: "Rate",
      everyStep: "Every step",
      dropout: "Dropout",
      shape: "Shape",
      scale: "Scale",
      offset: "Offset",
      filtersEach: "Filters each",
      factor: "Factor",
      border: "Border",
      words: "Words",
      features: "Features",
      heads: "Heads",
      featuresEach: "Features each",
      earlierOnly: "Only earlier steps",
      momentum: "Momentum",
      groups: "Groups",
      deviation: "Deviation",
      slope: "Slope",
      order: "Order",
      times: "Times",
      positions: "Positions",
      optimizer: "Optimizer",
      learningRate: "Learning rate",
      firstLearningRate: "Learning rate at first",
      loss: "Loss",
      batchSize: "Batch size",
      epochs: "Epochs",
      weightDecay: "Weight decay",
      precision: "Precision",
      seed: "Seed",
      set: "Set",
      noise: "Noise",
      points: "Points",
      pointsSeed: "Seed of the points",
      images: "Images",
      imagesSeed: "Seed of the images",
      ratio: "For training",
      metrics: "Metrics",
    },
    /** What the words of fields, and the values of their menus, mean. */
    terms: {
      glossary: "Glossary",
      value: (/** @type {string} */ value, /** @type {string} */ about) => `${value}: ${about}`,
      fields: {
        units: "How many numbers the layer computes. More units can learn more, but more slowly.",
        activation:
          "The function that bends each result of the layer, so that layers together can do more than one.",
        function: "The function that bends each number.",
        bias: "A number that each unit adds to its sum, and learns like its weights.",
        regularization:
          "Adds a price for large weights to the loss, so that the network rather learns the rule than single samples.",
        strength: "How much large weights cost. 0 is nothing.",
        filters: "How many patterns the layer looks for. Each gives a channel of the result.",
        window:
          "The side of the square, or the number of steps, that is seen at once; also called kernel size or pool size.",
        stride: "By how many pixels or steps the window moves on. 2 halves the result.",
        padding: "What happens at the edge: the window stays inside, or zeros are put around.",
        dilation:
          "The distance between the points that a filter sees. 2 leaves out every second one.",
        rate: "Dropout rate: the share of the inputs that is switched off at random in each training step.",
        everyStep:
          "Whether the layer gives its state after each step, as another recurrent layer needs it, or only the last one.",
        dropout:
          "Dropout rate: the share of the inputs that is switched off at random in each training step.",
        shape: "The sizes along each axis, such as height × width × channels.",
        scale: "The number by which all inputs are multiplied.",
        offset: "The number that is then added.",
        filtersEach: "How many patterns are looked for in each channel.",
        factor: "How often each pixel is repeated along height and width.",
        border: "How many pixels are added at each side.",
        words: "How many different words or characters there are. Their numbers must be smaller.",
        features: "How many numbers stand for each word.",
        heads: "How many attentions read the sequence side by side, each for something else.",
        featuresEach: "How many numbers each head compares.",
        earlierOnly: "Whether a step sees only earlier ones, as when the next word is predicted.",
        momentum: "How slowly the moving mean and deviation follow the batches.",
        groups: "Into how many groups the channels are divided.",
        deviation: "How strong the noise is: its standard deviation.",
        slope: "The factor of negative numbers.",
        order: "The new order of the axes, counted from 1.",
        times: "How often the sample is repeated.",
        positions: "For how many positions there are vectors: the longest sequence.",
        optimizer: "The rule by which the gradient of a batch changes the weights.",
        learningRate:
          "How far the weights move in each step. Too large, and the loss jumps or becomes NaN; too small, and nothing seems to happen.",
        firstLearningRate:
          "The learning rate at the beginning, or at its highest. A schedule changes it while training.",
        loss: "The number that says how wrong the predictions are. Training makes it small.",
        batchSize: "How many samples are processed before the weights change once.",
        epochs: "How often training goes through all samples.",
        precision:
          "How products are computed: from float32, or “mixed”, from operands rounded to float16, which are half as large.",
        weightDecay: "Draws all weights a little towards 0 in each step, against overfitting.",
        seed: "The number from which all random numbers follow. With the same seed a run repeats itself.",
        set: "The samples and their labels. Another set brings the first and last layer with it.",
        noise: "How far the points or shapes are scattered from their places.",
        points: "How many points are made.",
        pointsSeed: "The number from which the places of the points follow.",
        images: "How many images are made.",
        imagesSeed: "The number from which the images follow.",
        ratio:
          "The share of the samples for training. The others are validation data: the network is tested with them and never learns them.",
        metrics: "What is measured beside the loss, for you to read. Training does not follow it.",
      },
      /** @type {Record<string, string>} */
      values: {
        None: "Nothing is done.",
        relu: "Lets positive numbers pass and makes negative ones 0. The usual choice.",
        tanh: "Squeezes numbers smoothly between −1 and 1.",
        sigmoid: "Squeezes numbers smoothly between 0 and 1, as a probability of yes.",
        gelu: "A smooth relu, usual in transformers.",
        silu: "A smooth relu: the number times its sigmoid. Also called swish.",
        elu: "Like relu, but negative numbers fall smoothly to −1.",
        selu: "An elu whose scale keeps mean and deviation from layer to layer.",
        leaky_relu: "Like relu, but lets a little of negative numbers pass, so that no unit dies.",
        softplus: "A smooth relu that is always positive.",
        softmax: "Turns the scores of all classes into probabilities that add up to 1.",
        valid: "The window stays inside, so that the result is smaller.",
        same: "Zeros are put around, so that the result keeps its size.",
        causal: "Zeros are put before the beginning, so that no step sees a later one.",
        L1: "The price is the sum of the sizes of the weights: many become 0.",
        L2: "The price is the sum of the squares of the weights: none becomes large.",
        ...OPTIMIZER_TEXTS,
        SparseCategoricalCrossentropy:
          "For one of several classes, as class numbers: how surprised the network is by the right one.",
        CategoricalCrossentropy:
          "For one of several classes, as rows with a single 1: how surprised the network is by the right one.",
        BinaryCrossentropy: "For yes or no: how surprised the network is by the right answer.",
        MeanSquaredError: "For numbers: the mean of the squared errors. Large errors count most.",
        MeanAbsoluteError:
          "For numbers: the mean size of the errors. Single large ones do not dominate.",
        Huber: "For numbers: squared for small errors, absolute for large ones.",
      },
    },
    field: {
      inCode: "Your code sets this. Change it under Python.",
      inProgram: "in the program",
      none: "none",
      less: "Less",
      more: "More",
      lessOf: (/** @type {string} */ field) => `${field}: less`,
      moreOf: (/** @type {string} */ field) => `${field}: more`,
      sizes: "Write sizes as 28 × 28.",
      refused: (
        /** @type {string} */ text,
        /** @type {{label: string, isNumber: boolean, isWhole: boolean, least?: number, most?: number}} */ {
          label,
          isNumber,
          isWhole,
          least,
          most,
        },
      ) => {
        const kind = isWhole ? "whole number" : "number";
        const limits =
          most === undefined
            ? least === undefined
              ? ""
              : ` of at least ${least}`
            : ` from ${least ?? 0} to ${most}`;
        return `“${text}” ${isNumber ? "was not taken" : "is not a number"}: ${label.toLowerCase()} must be a ${kind}${limits}.`;
      },
      notPositive: (/** @type {string} */ text, /** @type {boolean} */ isNumber) =>
        `“${text}” ${isNumber ? "was not taken" : "is not a number"}: the learning rate must be greater than 0.`,
    },
    /** What is wrong with a card, in its words. */
    problems: {
      outputs: (/** @type {number} */ outputs, /** @type {number} */ classes) =>
        `The last layer has ${plural(outputs, "output")}, the data has ${classes} classes.`,
      targets: (/** @type {number} */ outputs, /** @type {number} */ targets) =>
        `The last layer has ${plural(outputs, "output")}, but each sample has ${plural(targets, "target")}.`,
      oneTarget: (/** @type {number} */ outputs) =>
        `The last layer has ${plural(outputs, "output")}, but each sample has one number to predict.`,
      oneNumber: (/** @type {number} */ outputs) =>
        `The loss compares one number for each sample, but the last layer has ${plural(outputs, "output")}.`,
      numbersForClasses: "The loss is for classes, but the data has numbers to predict.",
      classNumbers:
        "The loss takes a row of zeros with a single 1 for each sample (one-hot), but the data has class numbers.",
      oneHot: (/** @type {number} */ targets) =>
        `The loss takes class numbers, but the data has a row of ${targets} numbers for each sample (one-hot).`,
      moreThanTwo: (/** @type {number} */ classes) =>
        `The loss is for yes or no, but the data has ${classes} classes.`,
      notYesOrNo: (/** @type {number} */ least, /** @type {number} */ most) =>
        `The loss is for yes or no, 1 or 0, but the targets range from ${least} to ${most}.`,
      eachRow:
        "This layer gives a result for each row of a sample, but each sample has one target. Flatten puts all numbers into one row.",
      negativeLabels: (/** @type {number} */ least) =>
        `The data has a class number ${least}, but classes count from 0.`,
      labelsFromOne: (/** @type {number} */ outputs) =>
        `The classes of the data count from 1 to ${outputs}, but must count from 0. Subtract 1 from them under Python.`,
      ids: (/** @type {number} */ rows, /** @type {number} */ most) =>
        `The layer knows the numbers 0 to ${rows - 1}, but the data has ${most}.`,
      negativeIds: (/** @type {number} */ least) =>
        `The data has the number ${least}, but words are numbered from 0.`,
      count: (/** @type {string} */ field) => `${field} must be a whole number of at least 1.`,
      rate: "The learning rate must be greater than 0, or nothing is learnt.",
      notFinite: (/** @type {number} */ step, /** @type {string} */ rate) =>
        `At step ${step} the loss was no longer a finite number (NaN or infinity). ${
          rate
            ? `Most likely the learning rate, ${rate}, is too large.`
            : "Most likely the learning rate is too large."
        }`,
      ended: (/** @type {string} */ message) => `The run ended here: ${message}`,
    },
    /** Buttons that mend it. */
    mends: {
      set: (/** @type {string} */ field, /** @type {string} */ value) =>
        `Set ${field.toLowerCase()} to ${value}`,
      makeIt: (/** @type {number} */ outputs) => `Make it ${outputs}`,
      before: (/** @type {string} */ layer) => `Put ${layer} before it`,
      loss: (/** @type {string} */ loss) => `Take the loss for ${loss}`,
      lossAndOutputs: (/** @type {string} */ loss, /** @type {number} */ outputs) =>
        `Take the loss for ${loss}, with ${plural(outputs, "output")}`,
      made: (/** @type {string} */ mend) => `${mend}: done.`,
    },
    training: {
      title: "Training",
      of: (/** @type {string} */ name) => `Training of ${name}`,
      losses: {
        SparseCategoricalCrossentropy: "classes (cross-entropy)",
        CategoricalCrossentropy: "classes, one-hot (cross-entropy)",
        BinaryCrossentropy: "yes or no (cross-entropy)",
        MeanSquaredError: "numbers (squared error)",
        MeanAbsoluteError: "numbers (absolute error)",
        Huber: "numbers (Huber)",
      },
    },
    data: {
      title: "Data",
      shape: "Shape of one sample",
      yours: "Your data…",
      missing: (/** @type {string} */ name) =>
        `This browser has no data of the name “${name}”. Add it, or choose other data.`,
      /** Of the records of the library. @type {Record<string, string>} */
      sets: Object.fromEntries(
        Object.entries(DATA_SETS).flatMap(([name, { samples }]) =>
          samples ? [[name, samples.title]] : [],
        ),
      ),
    },
  },
  /** Why Blocks cannot change the data of a program. */
  suited: {
    setting: (/** @type {string} */ field, /** @type {string} */ value) =>
      `${field.toLowerCase()} ${value}`,
    question: (/** @type {string} */ title, /** @type {string[]} */ settings) =>
      `Other settings suit “${title}” better: ${settings.join(", ")}.`,
    take: "Take these",
    keep: "Keep mine",
    taken: "The settings that suit the data are taken.",
    kept: "Your settings are kept.",
    unfit: (/** @type {string} */ name, /** @type {string[]} */ mends) =>
      `The network does not fit “${name}” yet. ${mends.join("; ")}?`,
    fit: "Make it fit",
    fitted: "The network fits the data.",
  },
  dataChange: {
    notOffered: (/** @type {string[]} */ sets, /** @type {string} */ reason) =>
      `Not offered here: ${sets.join(", ")}. ${reason}`,
    all: "all",
    ratioAbout: "The share of the data; the network is tested with the others",
    held: (/** @type {string} */ split) =>
      `fit() holds back a part already, validation_split=${split}.`,
    noList: "The layers are not in a list, so Blocks cannot change the first of them.",
    severalSets: "The program has several data sets.",
    notOneNetwork: "The program has more or less than one network.",
    noFit: "This program has a training loop of its own and never calls fit().",
    inputDtype: "The input has a dtype of its own.",
    notRemovable: (/** @type {string} */ kind) => `${kind} cannot be removed from this network.`,
    lastNotDense: "The last layer is not Dense, so its outputs are not scores of classes.",
    units: (/** @type {string} */ units) => `The units of the last layer are ${units}.`,
    loss: (/** @type {string} */ loss) => `The loss is ${loss}.`,
    notForPoints: (/** @type {string} */ kind) => `${kind} does not fit points: remove it first.`,
    notForImages: (/** @type {string} */ kind, /** @type {string} */ shape) =>
      `${kind} does not fit images of ${shape}: remove it first.`,
    lost: "Blocks cannot follow the data to fit().",
    takenApart: "The program takes the data apart in its own way.",
    computed: (/** @type {number} */ line) => `Line ${line} computes with the data.`,
  },
  metrics: {
    inCode: "Your code sets this. Change it under Python.",
    measured: (/** @type {string} */ metric) => `${metric}: measured.`,
    notMeasured: (/** @type {string} */ metric) => `${metric}: not measured.`,
    names: {
      accuracy: "accuracy",
      top_k_accuracy: "among the best five",
      mean_absolute_error: "absolute error",
      mean_squared_error: "squared error",
      root_mean_squared_error: "root of the squared error",
      r2_score: "R²",
    },
  },
  layers: {
    title: "Layers",
    groups: {
      basic: "Basic",
      images: "Images",
      sequences: "Sequences and text",
      normalization: "Normalization and noise",
    },
    /** Of the records of the library. @type {Record<string, string>} */
    about: {
      ...LAYER_TEXTS,
      Input: "The shape of one sample, which the network takes.",
    },
  },
  shapes: {
    oneNumber: "one number",
    any: "any",
    inputDiffers: (/** @type {string} */ data, /** @type {string} */ input) =>
      `The data has samples of ${data}, but the input is ${input}.`,
    whole: (
      /** @type {string} */ parameter,
      /** @type {string} */ kind,
      /** @type {number} */ least,
    ) => `${parameter} of ${kind} must be a whole number of at least ${least}.`,
    sizes: (
      /** @type {string} */ parameter,
      /** @type {string} */ kind,
      /** @type {number} */ axes,
    ) => `${parameter} of ${kind} must be one number${axes > 1 ? ` or ${axes}` : ""}.`,
    items: (
      /** @type {string} */ parameter,
      /** @type {string} */ kind,
      /** @type {number} */ axes,
    ) => `${parameter} of ${kind} must have ${axes} items.`,
    pairs: (/** @type {string} */ parameter, /** @type {string} */ kind) =>
      `${parameter} of ${kind} has pairs of numbers.`,
    images: "images: height, width and channels",
    sequences: "sequences: steps and features",
    row: "one row of numbers",
    wrongRank: (
      /** @type {string} */ kind,
      /** @type {string} */ expected,
      /** @type {string} */ input,
      /** @type {string} */ layer,
    ) => `${kind} takes ${expected}. Its input is ${input}. Put ${layer} before it.`,
    oneForEach: (/** @type {string} */ kind) =>
      `${kind} needs a list of numbers for each sample, but gets a single one.`,
    reshapeTuple: "target_shape of Reshape must be a tuple, such as (28, 28, 1).",
    reshape: (/** @type {number} */ all, /** @type {string} */ from, /** @type {string} */ to) =>
      `Reshape cannot arrange the ${all} numbers of ${from} as ${to}.`,
    permute: (/** @type {number} */ axes) => `dims of Permute must hold the numbers 1 to ${axes}.`,
    noAxis: (/** @type {string} */ kind, /** @type {number} */ axis, /** @type {string} */ input) =>
      `${kind} has no axis ${axis} in its input, ${input}.`,
    channelGroups: (
      /** @type {string} */ kind,
      /** @type {number} */ groups,
      /** @type {number} */ channels,
    ) => `${kind} has ${groups} groups, which do not divide its ${channels} channels.`,
    filterGroups: (
      /** @type {string} */ kind,
      /** @type {number} */ groups,
      /** @type {number} */ filters,
    ) => `${kind} has ${groups} groups, which do not divide its ${filters} filters.`,
    heads: (
      /** @type {string} */ kind,
      /** @type {number} */ heads,
      /** @type {number} */ features,
    ) => `${kind} has ${heads} heads, which do not divide the ${features} features of its input.`,
    positions: (/** @type {number} */ length, /** @type {number} */ steps) =>
      `PositionEmbedding has vectors for ${length} positions. Its input has ${steps}.`,
    several: (/** @type {string} */ kind) => `${kind} takes two or more tensors.`,
    oneShape: (
      /** @type {string} */ kind,
      /** @type {string} */ one,
      /** @type {string} */ other,
    ) => `${kind} takes tensors of one shape, but gets ${one} and ${other}.`,
    concatenate: (/** @type {string[]} */ shapes) =>
      `Concatenate cannot join ${shapes.join(" and ")}: all sizes but one must be the same.`,
    window: (
      /** @type {string} */ kind,
      /** @type {number} */ window,
      /** @type {number} */ size,
    ) =>
      `The window of ${kind} is ${window} wide, but its input only ${size}. ` +
      'Use a smaller window, fewer layers that shrink the input before it, or padding "same".',
    nothingLeft: (
      /** @type {string} */ kind,
      /** @type {number} */ cut,
      /** @type {number} */ size,
    ) => `${kind} cuts off ${cut} of ${size}. Nothing is left.`,
  },
  data: {
    title: "Your data",
    back: "← Back",
    close: "Close",
    privacy:
      "Your files never leave this browser: they are read and kept here, and no server gets them.",
    reading: "Reading…",
    unreadable: (/** @type {string} */ reason) => `The files cannot be read: ${reason}`,
    dropped: "Drop data to train on, a trained model, or a program or project to open",
    sources: {
      label: "Bring data",
      drop: "Drop files anywhere on the page",
      orChoose: ", or choose them here.",
      file: "Choose a file",
      folder: "A folder of images",
      camera: "Use the camera",
      points: "Draw points",
      files: "Files",
      folderOf: "Folder",
      tables: "Tables",
      tablesAre: ": CSV with any delimiter, with or without a header; up to 32 MiB.",
      graphs: "Graphs",
      graphsAre: ": two CSV files with headers, of nodes and of edges, chosen together.",
      images: "Images",
      imagesAre: ": a folder or a ZIP archive with a folder for each class; up to 1 GiB.",
      arrays: "Arrays",
      arraysAre:
        ": .npz or .npy of NumPy, with x and y, or x_train, y_train, x_test and y_test; up to 512 MiB.",
      models: "Trained models",
      modelsAre:
        ": .onnx, .keras of Keras 3, model.json of TensorFlow.js with its weights in a ZIP archive, or .safetensors, .playgrad and .pt.zip files of playgrad; up to 512 MiB.",
    },
    /** Parts of the descriptions of data sets. */
    counts: (/** @type {number} */ train, /** @type {number} */ test) =>
      `${count(train)} to train, ${count(test)} to test`,
    classes: (/** @type {number} */ number) => `${number} classes`,
    numbers: "numbers to predict",
    kept: {
      title: "Kept in this browser",
      about: (
        /** @type {string} */ counts,
        /** @type {string} */ shape,
        /** @type {string} */ task,
      ) => `${counts}; ${shape} each; ${task}`,
      nameTaken: (/** @type {string} */ name) => `There is already data of the name “${name}”.`,
      newName: (/** @type {string} */ name) => `New name of ${name}`,
      failed: (/** @type {string} */ name, /** @type {string} */ reason) => `${name}: ${reason}`,
      lost: (/** @type {string} */ name) =>
        `the browser has lost the file of ${name}. Add it again.`,
      full: "The browser has no room left, so this data is here only until the page closes. Delete other data, or save it as a file.",
      notStored: (/** @type {string} */ reason) =>
        `The browser does not store it (${reason}), so this data is here only until the page closes. Save it as a file.`,
      use: "Use",
      begin: "New program",
      rename: "Rename",
      cancel: "Cancel",
      remove: "Delete",
      removeNow: "Delete it",
      keep: "Keep",
    },
    names: {
      label: "Name",
      empty: "Give the data a name.",
      wrong: (/** @type {number} */ longest) =>
        `A name has at most ${longest} letters, digits, spaces, points, - and _.`,
      ofLibrary: (/** @type {string} */ name) =>
        `“${name}” is a data set of the library. Choose another name.`,
      replaces: (/** @type {string} */ name) => `Replaces the data of the name “${name}”.`,
    },
    use: {
      label: "Use",
      now: "Use this data",
      nowIs: "Keep it, and write one line into the program",
      begin: "New program with it",
      beginIs: "Keep it, and open a new program that trains on it",
      save: "Save as .npz",
      saved: (/** @type {string} */ name) =>
        `Saved. Beside a program, or in the folder PLAYGRAD_DATA, pg.data.load("${name}") finds it on your computer.`,
      loads: (/** @type {string} */ name) =>
        `The program loads “${name}”. Adapt the layers to it, then press Run.`,
      locked: (/** @type {string} */ name) =>
        `The program cannot be changed now. Write: pg.data.load("${name}")`,
      begun: (/** @type {string} */ name) =>
        `A new program trains on “${name}”. Press Run. The menu of examples has the one before.`,
      /** "480 samples to train, 120 to test, 2 each; 4.7 KiB", with the numbers between these parts. */
      summary: {
        first: "",
        toTrain: " samples to train, ",
        toTest: " to test, ",
        each: (/** @type {string} */ size) => ` each; ${size}`,
      },
      byClass: "Samples by class",
      moreClasses: (/** @type {number} */ number) => `and ${number} more`,
      target: (/** @type {string} */ low, /** @type {string} */ high) =>
        `The target is a number, from ${low} to ${high}.`,
      testPart: "For testing",
      splitSeed: "Seed of the split",
    },
  },
  /** Files of trained models. */
  dataModels: {
    label: (/** @type {string} */ name) => `Model ${name}`,
    waiting: "The model is read as soon as Python has started…",
    reading: "Reading the model…",
    size: (/** @type {number} */ layers, /** @type {number} */ parameters) =>
      `${plural(layers, "layer")} with ${plural(parameters, "parameter")}.`,
    sides: (/** @type {string[]} */ inputs, /** @type {string[]} */ outputs) =>
      `Takes samples of ${inputs.join(" and ")}, and gives ${outputs.join(" and ")}.`,
    tensor: (/** @type {string} */ shape, /** @type {string} */ dtype) => `${shape} (${dtype})`,
    compiled: "The file has the settings of compile.",
    ending: (/** @type {string} */ ending) =>
      `Give the model a name that ends in ${ending}, as the file does.`,
    replaces: (/** @type {string} */ name) => `Replaces the model of the name “${name}”.`,
    now: "Use this model",
    nowIs: "Keep it, and write one line into the program",
    begin: "New program with it",
    beginIs: "Keep it, and open a new program that shows it and predicts",
    save: "Save as file",
    loads: (/** @type {string} */ name) =>
      `The program loads “${name}”. Adapt the data to it, then press Run.`,
    locked: (/** @type {string} */ call) =>
      `The program cannot be changed now. Write: model = ${call}`,
    open: "This model takes sequences of any length, and its layers need one. Give the number of steps in your samples.",
    steps: "Steps in a sample",
    read: "Read it with this length",
    fixed: (/** @type {number} */ steps) =>
      `The file takes sequences of any length; this program loads it for ${plural(steps, "step")}. If it is saved again, the length stays.`,
    begun: (/** @type {string} */ name) =>
      `A new program loads “${name}”. Press Run. The menu of examples has the one before.`,
  },
  /** Graphs in two tables. */
  dataGraphs: {
    label: (/** @type {string} */ one, /** @type {string} */ other) => `Graph: ${one}, ${other}`,
    waiting: "The tables are read as soon as Python has started…",
    reading: "Reading the tables…",
    nodes: "Nodes",
    edges: "Edges",
    file: (/** @type {string} */ rows) => `File, ${rows} rows`,
    id: "Names of nodes",
    target: "Class, or number to predict",
    noLabel: "none",
    features: "Features",
    plain:
      "Without features, each node is its own feature: the network learns from the edges alone.",
    leftOut: (/** @type {string[]} */ titles, /** @type {boolean} */ areMore) =>
      `Left out as free text: ${titles.join(", ")}${areMore ? ", …" : ""}.`,
    source: "From",
    ends: "To",
    directed: "Edges lead in one direction only",
    directedIs: "Otherwise, each edge also leads back",
    size: (
      /** @type {number} */ nodes,
      /** @type {number} */ edges,
      /** @type {number} */ features,
    ) => `${plural(nodes, "node")}, ${plural(edges, "edge")}, ${plural(features, "feature")} each.`,
    known: (
      /** @type {number} */ known,
      /** @type {number} */ nodes,
      /** @type {number} */ classes,
    ) =>
      known === nodes
        ? `All nodes have one of ${classes} classes.`
        : `${count(known)} of the nodes have one of ${classes} classes; the others are predicted.`,
    numbers: (/** @type {number} */ known, /** @type {number} */ nodes) =>
      known === nodes
        ? "All nodes have a number to predict."
        : `${count(known)} of the nodes have a number to predict; the others are predicted.`,
    byClass: "Nodes by class",
    saved: (/** @type {string} */ name) =>
      `Saved. Beside a program, or in the folder PLAYGRAD_DATA, pg.data.load_graph("${name}") finds it on your computer.`,
    loads: (/** @type {string} */ name) =>
      `The program loads the graph “${name}”. Adapt the inputs to it, then press Run.`,
    locked: (/** @type {string} */ call) =>
      `The program cannot be changed now. Write: graph = ${call}`,
    seemsEdges: "This looks like the edges of a graph.",
    half: "Is this half of a graph, its nodes or its edges?",
    addNodes: "Add the file of its nodes",
    addOther: "Add the other file",
    /** What is wrong with a file: Python says it in English. */
    problem: (/** @type {import("../../engine/messages.js").Sentence} */ { message }) => message,
  },
  dataForms: {
    normalize: "Bring features to mean 0 and deviation 1",
    normalizeIs: "With the mean and the deviation of the training rows",
    table: {
      label: (/** @type {string} */ name) => `Table ${name}`,
      delimiter: "Delimiter",
      delimiters: { comma: "comma", semicolon: "semicolon", tab: "tab", bar: "bar" },
      header: "The first row names the columns",
      size: (/** @type {number} */ rows, /** @type {number} */ columns) =>
        `${count(rows)} rows, ${columns} columns.`,
      target: "Label",
      targetIs: (/** @type {string} */ title) => `“${title}” is`,
      aClass: "a class",
      aNumber: "a number to predict",
      holes: (/** @type {number} */ number) => `${plural(number, "row")} with missing values`,
      drop: "leave out",
      mean: "fill with the mean",
      raggedLine: (/** @type {number} */ line) =>
        `Line ${line} has another number of cells than the others, and is left out.`,
      raggedLines: (
        /** @type {number} */ number,
        /** @type {number[]} */ lines,
        /** @type {boolean} */ areMore,
      ) =>
        `${count(number)} lines have another number of cells than the others, and are left out: ${lines.join(", ")}${areMore ? ", …" : ""}.`,
      seemsHeader: (/** @type {number} */ line, /** @type {string} */ choice) =>
        `Line ${line} is read as data. If its numbers are the names of the columns, tick “${choice}”.`,
      leftOut: (
        /** @type {number} */ rows,
        /** @type {number} */ of,
        /** @type {string} */ title,
        /** @type {number} */ holes,
        /** @type {number} */ line,
      ) =>
        `Rows with missing values are left out: ${count(rows)} of ${count(of)}, most because of “${title}”: ${count(holes)}, the first in line ${line}.`,
      oddCell: (
        /** @type {string} */ title,
        /** @type {"number" | "date"} */ type,
        /** @type {string} */ cell,
        /** @type {number} */ line,
      ) =>
        `“${title}” has a cell that is no ${type}, “${cell}” in line ${line}. It counts as missing.`,
      oddCells: (
        /** @type {string} */ title,
        /** @type {number} */ number,
        /** @type {"number" | "date"} */ type,
        /** @type {string} */ cell,
        /** @type {number} */ line,
      ) =>
        `“${title}” has ${count(number)} cells that are no ${type}, such as “${cell}” in line ${line}. They count as missing.`,
      otherEncoding:
        "The text is not UTF-8, and is read as Windows-1252. If letters look wrong, save the file as UTF-8.",
      numberRead: (
        /** @type {string} */ title,
        /** @type {string} */ cell,
        /** @type {number} */ value,
        /** @type {number | null} by the other decimal mark */ other,
      ) =>
        `In “${title}”, “${cell}” is read as ${value}.` +
        (other === null ? "" : ` It could also mean ${other}; nothing in the file decides.`),
      moreRemarks: (/** @type {number} */ number) => `And ${count(number)} more remarks.`,
      preview: "The first rows",
      predict: (/** @type {string} */ title) => `Predict “${title}”`,
      isTarget: "label",
      typeOf: (/** @type {string} */ title) => `Type of ${title}`,
      types: { number: "number", category: "category", date: "date", text: "left out" },
      moreColumns: (/** @type {number} */ number) =>
        `and ${number} more columns, which are used, too`,
      column: (/** @type {number} */ number) => `column ${number}`,
    },
    arrays: {
      label: (/** @type {string} */ name) => `Arrays of ${name}`,
      ofText: (/** @type {string} */ shape) => `${shape}, text`,
      targets: "The targets are",
      classes: "classes",
      numbers: "numbers to predict",
    },
    images: {
      label: (/** @type {string} */ name) => `Images of ${name}`,
      size: (/** @type {number} */ images, /** @type {number} */ folders) =>
        `${count(images)} images in ${folders} folders.`,
      reading: (/** @type {number} */ number, /** @type {number} */ of) =>
        `Reading image ${count(number)} of ${count(of)}…`,
      leftOut: (/** @type {number} */ number) =>
        number === 1 ? "One file was left out" : `${count(number)} files were left out`,
      side: "Size in pixels",
      colours: "Colours",
      colour: "colour",
      grey: "grey",
    },
    camera: {
      title: "Camera",
      hint: "Hold a button while the camera sees something of that class. Move it about: a network learns what stays the same.",
      begin: "Turn the camera on",
      sees: "What the camera sees",
      noAccess:
        "This browser gives the page no camera. Bring images in a folder or a ZIP archive instead.",
      notAllowed:
        "The browser was not allowed to use the camera. Allow it beside the address of the page, then try again.",
      none: "This device has no camera. Bring images in a folder or a ZIP archive instead.",
      busy: "Another program uses the camera. Close it, then try again.",
      failed: (/** @type {string} */ reason) =>
        `The camera cannot be used: ${reason}. Bring images in a folder or a ZIP archive instead.`,
      className: (/** @type {number} */ number) => `class ${number}`,
      nameOf: (/** @type {number} */ number) => `Name of class ${number}`,
      frames: (/** @type {number} */ number) => `${count(number)} frames`,
      discard: "Discard",
      discardOf: (/** @type {string} */ name) => `Discard the frames of ${name}`,
      addClass: "Add a class",
      record: (/** @type {string} */ name) => `Record ${name}, while held`,
      hold: "Hold to record",
      recording: "Recording…",
    },
    points: {
      label: "Points",
      title: "Draw points",
      hint: "Click or draw on the plane. With keys: arrows move the cross, Space places a point, Backspace takes the last one back.",
      next: "Class of the next points",
      count: (/** @type {string} */ name, /** @type {number} */ number) =>
        `Class ${name}: ${count(number)}`,
      takeBack: "Take back",
      clear: "Clear",
      plane: (/** @type {number} */ number, /** @type {string} */ x, /** @type {string} */ y) =>
        `A plane with ${number} points; the cross is at ${x}, ${y}`,
      tooFew: "At least two points of each class are needed.",
    },
  },
  dataFiles: {
    kinds:
      "Bring a CSV file, an .npz or .npy file of NumPy, two CSV files of nodes and edges, images in a folder or a ZIP archive, one folder per class, or a model as .onnx or .keras.",
    none: (/** @type {string} */ kinds) => `There are no files here. ${kinds}`,
    severalOthers: (/** @type {number} */ number, /** @type {string} */ kinds) =>
      `${number} files were chosen, none of them an image. ${kinds} A table is one file, and a graph is two.`,
    empty: (/** @type {string} */ name) => `${name} is empty.`,
    oneImage: (/** @type {string} */ name, /** @type {string} */ kinds) =>
      `${name} is a single image. ${kinds}`,
    weights: (/** @type {string} */ name) =>
      `${name} holds weights, and does not describe the layers that they belong to. Build the network, run it, and load the file in the panel Watch, under Weights.`,
    pack: "A model of TensorFlow.js has its weights in other files. Pack model.json and its .bin files into a ZIP archive, and bring that.",
    saveAsCsv: (/** @type {string} */ name) => `${name} cannot be read here. Save it as CSV.`,
    otherKind: (/** @type {string} */ name, /** @type {string} */ kinds) =>
      `${name} is of a kind that this page does not read. ${kinds}`,
    /** Several files of arrays, in place of the name of one. */
    theArrays: "the arrays",
    severalTables: (/** @type {string} */ name, /** @type {number} */ number) =>
      `${name} holds ${number} tables. Unpack it, and bring one of them, or two as a graph.`,
    nothingIn: (/** @type {string} */ name, /** @type {string} */ kinds) =>
      `${name} holds no images and no table. ${kinds}`,
    size: (/** @type {number} */ mebi, /** @type {number} */ bytes) =>
      mebi >= 1 ? `${Math.round(mebi)} MiB` : `${bytes} bytes`,
    tooLarge: (
      /** @type {string} */ name,
      /** @type {string} */ size,
      /** @type {string} */ most,
    ) =>
      `${name} has ${size}, and this page reads at most ${most}. ` +
      "Use a part of it here, or all of it on your computer: pg.data.Dataset reads large files piece by piece.",
    setTooLarge: (/** @type {string} */ size, /** @type {string} */ most) =>
      `The data set would take ${size}, and a page can hold ${most}. Use fewer samples, or smaller images.`,
    archive: {
      tooLarge: (/** @type {string} */ name) =>
        `${name} is too large a ZIP archive for this page. Pack a part of the files.`,
      notZip: (/** @type {string} */ name) =>
        `${name} is not a ZIP archive, or it is truncated. Pack the files again.`,
      encrypted: (/** @type {string} */ name) =>
        `${name} is encrypted. Pack it without a password.`,
      limit: (/** @type {string} */ name, /** @type {number} */ size, /** @type {number} */ most) =>
        `${name} unpacks to ${size} bytes, more than the ${most} allowed.`,
      method: (/** @type {string} */ name, /** @type {number} */ method) =>
        `${name} is packed in a way (${method}) that browsers cannot unpack. Pack it as an ordinary ZIP.`,
      bomb: (/** @type {string} */ name) =>
        `${name} unpacks to more than the archive says. It is damaged, or made to do harm.`,
      damaged: (/** @type {string} */ name) => `${name} is damaged. Pack it again.`,
    },
    table: {
      notText: (/** @type {string} */ name) =>
        `${name} is not a table of text. Save it as CSV first.`,
      oneColumn: (/** @type {string} */ name) =>
        `${name} has a single column, and a label and a feature are needed. Is the delimiter right?`,
      manyColumns: (
        /** @type {string} */ name,
        /** @type {number} */ columns,
        /** @type {number} */ most,
      ) =>
        `${name} has ${columns} columns, and the page shows at most ${most}. Save images as an archive, other data as .npz.`,
      noRows: (/** @type {string} */ name) => `${name} has a header but no rows.`,
      openQuote: (/** @type {string} */ name, /** @type {number} */ line) =>
        `${name}, line ${line}: a quotation mark is never closed. Close it, or remove it.`,
      longCell: (
        /** @type {string} */ name,
        /** @type {number} */ line,
        /** @type {number} */ most,
      ) =>
        `${name}, line ${line}: a cell has more than ${count(most)} characters. Is a quotation mark left open?`,
      oneClass: (/** @type {string} */ title, /** @type {string} */ only) =>
        `The label “${title}” has only one class, “${only}”, so there is nothing to tell apart. Choose another column as the label.`,
      noValues: (/** @type {string} */ title) =>
        `The label “${title}” has no values, so there is nothing to tell apart. Choose another column as the label.`,
      manyClasses: (/** @type {string} */ title, /** @type {number} */ classes) =>
        `The label “${title}” has ${classes} classes. Make it a number, or choose another column.`,
      textTarget: (/** @type {string} */ title, /** @type {string} */ cell) =>
        `The label “${title}” holds text, such as “${cell}”. Make it a category.`,
      noFeatures: "No column is left as a feature. Make one a number or a category.",
      holesEverywhere:
        "Every row has a missing value. Fill them with the mean, or make the columns with holes text, which leaves them out.",
      oneRow: "Only one row is left, and at least two are needed: one to train on, one to test.",
      manyCategories: (/** @type {string} */ title, /** @type {number} */ values) =>
        `“${title}” has ${values} different values, too many for a category. Make it text, which leaves it out.`,
    },
    arrays: {
      none: (/** @type {string} */ name) => `${name} holds no arrays. Save some with numpy.savez.`,
      inArchive: (/** @type {string} */ file, /** @type {string} */ archive) =>
        `${file} in ${archive}`,
      tooLarge: (
        /** @type {string} */ name,
        /** @type {number} */ size,
        /** @type {number} */ most,
      ) => `${name} unpacks to ${size} MiB, more than the ${most} MiB that this page reads.`,
      shapesDiffer: (
        /** @type {string} */ name,
        /** @type {string} */ train,
        /** @type {string} */ test,
      ) => `The samples in ${name} differ in shape: ${train} in x_train, ${test} in x_test.`,
      oneClass: (/** @type {string} */ name) =>
        `The targets in ${name} are all of one class, so there is nothing to tell apart.`,
      others: (/** @type {string} */ name, /** @type {string[]} */ parts) =>
        `${name} holds ${parts.join(", ")}. A data set has x_train, y_train, x_test and y_test, or x and y.`,
      text: (/** @type {string} */ part, /** @type {string} */ name) =>
        `${part} in ${name} holds text. Make it numbers.`,
      single: (/** @type {string} */ part, /** @type {string} */ name) =>
        `${part} in ${name} is a single number, not rows.`,
      notFinite: (/** @type {string} */ part, /** @type {string} */ name) =>
        `${part} in ${name} holds NaN or infinity. Replace them first: numpy.nan_to_num.`,
      unpaired: (
        /** @type {string} */ name,
        /** @type {number} */ xRows,
        /** @type {string} */ x,
        /** @type {number} */ yRows,
        /** @type {string} */ y,
      ) => `${name} has ${xRows} rows in ${x} but ${yRows} in ${y}. Each sample needs one target.`,
      noFeatures: (
        /** @type {string} */ part,
        /** @type {string} */ name,
        /** @type {string} */ shape,
      ) => `${part} in ${name} has shape ${shape}. Give it an axis for the features: x[:, None].`,
      tooFew: (
        /** @type {string} */ part,
        /** @type {string} */ name,
        /** @type {number} */ rows,
      ) => `${part} in ${name} has ${rows} rows, and at least two are needed.`,
      notNumPy: (/** @type {string} */ name) =>
        `${name} is not an array of NumPy. Save one with numpy.save or numpy.savez.`,
      objects: (/** @type {string} */ name) =>
        `${name} holds Python objects, which could run a program when they are read. ` +
        'Save it as numbers: array.astype("float32").',
      records: (/** @type {string} */ name) =>
        `${name} holds records, and only arrays of numbers can be used. Save each field as an array.`,
      truncated: (
        /** @type {string} */ name,
        /** @type {number} */ size,
        /** @type {number} */ actual,
      ) => `${name} is truncated: it should have ${size} bytes, and has ${actual}. Save it again.`,
      otherNumbers: (/** @type {string} */ name, /** @type {string} */ type) =>
        `${name} holds ${type}, and only real numbers can be used. Save it as float32.`,
    },
    images: {
      tooMany: (
        /** @type {string} */ name,
        /** @type {number} */ images,
        /** @type {number} */ most,
      ) =>
        `${name} holds ${images} images, and this page takes at most ${most}. Bring a part of them.`,
      oneFolder: (/** @type {string} */ name, /** @type {string} */ folder) =>
        `All images in ${name} are in one folder, “${folder}”, so there is only one class. Put the images of each class into a folder of its own.`,
      noFolders: (/** @type {string} */ name) =>
        `The images in ${name} are not in folders, so there is only one class. Put the images of each class into a folder of its own.`,
      manyFolders: (/** @type {string} */ name, /** @type {number} */ folders) =>
        `${name} has ${folders} folders of images, too many for classes.`,
      /** Why a file was left out. */
      skipped: (/** @type {string} */ path, /** @type {string} */ reason) => `${path}: ${reason}`,
      notImage: "not a PNG, JPEG, GIF, WebP or BMP image",
      undecodable: "the browser cannot decode it",
      manyPixels: (/** @type {number} */ width, /** @type {number} */ height) =>
        `${width} × ${height} pixels are too many`,
      emptyClasses: (/** @type {string[]} */ names) =>
        `Images of at least two classes are needed. There are none of ${names.map((name) => `“${name}”`).join(", ")}.`,
    },
  },
  loading: {
    python: (/** @type {string} */ problem) => `A part of Python does not arrive. ${problem}`,
    examples: (/** @type {string} */ problem, /** @type {number} */ seconds) =>
      `The examples do not arrive: ${problem} Trying again in ${seconds} s.`,
    notStarted: (/** @type {number} */ seconds) =>
      `Python could not start. Trying again in ${seconds} s.`,
    startingAgain: "Trying to start Python again…",
    failed: (/** @type {string} */ name, /** @type {string} */ reason) =>
      `${name} could not be loaded: ${reason}. Reload the page to try again; your work is saved.`,
    waiting: "Loading…",
    drawer: "The drawer for data",
  },
  numbers: {
    seconds: (/** @type {number} */ seconds) => `${seconds} s`,
    minutes: (/** @type {number} */ minutes, /** @type {number} */ seconds) =>
      `${minutes} min ${seconds} s`,
    hours: (/** @type {number} */ hours, /** @type {number} */ minutes) =>
      `${hours} h ${minutes} min`,
    unknown: "unknown",
    scalar: "scalar",
    day: (
      /** @type {number} */ day,
      /** @type {number} */ month,
      /** @type {number | null} */ year,
    ) =>
      `${day} ${"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")[month]}${year === null ? "" : ` ${year}`}`,
    list: (/** @type {string[]} */ items) => items.join(", "),
    clauses: (/** @type {string[]} */ items) => items.join("; "),
    sentences: (/** @type {string[]} */ sentences) => sentences.filter(Boolean).join(" "),
  },
};

/** @typedef {typeof en} Messages */
