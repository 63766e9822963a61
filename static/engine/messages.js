/**
 * Every message between the page, the Python worker, the device workers and Python itself.
 * Types only: `tsc` checks each sender and handler against them, and `tests/page/test_messages.py`
 * reads them here and checks what Python sends and reads.
 *
 * There are three channels:
 *   - `postMessage` between the page and a worker; between the page and the Python worker on a port
 *     of their own, because a user's program can post messages as its worker;
 *   - the mailbox in shared memory, page → Python, which Python reads even while it is busy;
 *   - a message port, Python → device worker, answered through a ring in shared memory, because the
 *     Python worker sleeps until the answer is there.
 */

/**
 * Page → Python worker.
 *   `start`: the first message and the only one outside `port`, on which all others travel. The
 *     worker holds `lock` until it ends; `ports` are spare ones for future device workers;
 *     `template` is from an earlier worker; `dataBytes` is the size of the data sets that its program
 *     will probably read.
 *   `inherit`: what earlier Python workers leave behind; sent before the first request.
 *   `files`: more files of the server, in shared memory, by path.
 *   `prepare`: import packages, as the last program did; sent to a spare worker while nothing runs.
 *   `poke`: the mailbox has a request; needed only while Python is idle.
 *   `ports`: spare ports that replace used ones.
 * @typedef {(
 *   | {kind: "start", memory: SharedMemory, lock: string, port: MessagePort, ports: MessagePort[],
 *      template?: Template, dataBytes: number}
 *   | {kind: "inherit"} & Inheritance
 *   | {kind: "files", files: Map<string, Uint8Array>}
 *   | {kind: "prepare", files: Map<string, Uint8Array>}
 *   | {kind: "poke"}
 *   | {kind: "ports", ports: MessagePort[]}
 * )} PythonCommand
 * @typedef {{tunings: string, kept: Map<string, Contents>, files: Map<string, Uint8Array>}} Inheritance
 *   `tunings`: the text of the last `tunings` event; `kept`: data sets on devices, by device;
 *   `files`: of the server, by path
 */

/**
 * Python worker → page, sent by its JavaScript.
 *   `alive`: the worker holds its lock.
 *   `loading`: how the downloads go; `problem` is null while all is well.
 *   `ready`: the versions of playgrad, Python and NumPy; `timings` in milliseconds, by phase.
 *   `template`: from which the next workers start quickly; not sent by those that have one.
 *   `tunings`: measurements of GPUs, to be stored and returned at the next start.
 *   `data_file`: see `DataRequest`.
 *   `crash`: Python could not start or is broken; only a new worker helps. `problem`: the message,
 *   if the page can say it in its language.
 * @typedef {(
 *   | {kind: "alive"}
 *   | Loading
 *   | {kind: "ready", version: string, python: string, numpy: string, timings: Record<string, number>}
 *   | {kind: "template", template: Template}
 *   | {kind: "tunings", text: string}
 *   | DataRequest
 *   | {kind: "crash", message: string, problem?: Sentence}
 * )} PythonWorkerEvent
 * @typedef {{code: WebAssembly.Module, libraries: Record<string, WebAssembly.Module>,
 *            image: Uint8Array, runtime: Record<string, Uint8Array>}} Template
 *   what an interpreter was started from: code and libraries, compiled; the image of its memory and
 *   other files, by URL, in shared memory
 * @typedef {{kind: "loading", stage: "python" | "library", problem?: Delay | null,
 *            progress?: {received: number, total: number, seconds: number | null} | null}} Loading bytes
 * @typedef {{message: string, code: string, values: Record<string, string | number>}} Sentence
 *   in English, with its kind and what is in it, for the page to say it in its language
 * @typedef {Sentence & {seconds: number, isMissing: boolean}} Delay
 *   why a file does not arrive; it is tried again after `seconds`; `isMissing`: the server does not have it
 * @typedef {{kind: "data_file", path: string, answer: SharedArrayBuffer, into?: SharedArrayBuffer,
 *            beside?: string[]}} DataRequest
 *   a file of the server, for a program that sleeps until it is there: see data-files.js; `beside`: those
 *   that it needs next
 */

/**
 * Python worker → page: start the worker of a device, or end one that does not answer.
 *   `channel`: the number of the port; `reply`: the ring for the worker's answers.
 * @typedef {(
 *   | {kind: "device_worker", device: string, state: "starting", channel: number, reply: SharedArrayBuffer}
 *   | {kind: "device_worker", device: string, state: "lost", channel: number, message: string}
 * )} DeviceWorkerRequest
 */

/**
 * Python → page, sent by Python's `emit`.
 *   `fit_begin`, `progress`, `epoch_end`, `fit_end`: training; a point is [step, loss, accuracy]. The
 *     seconds are those of the fit, without pauses; of `epoch_end`, those of the epoch. The points of
 *     `fit_begin` are the last ones before a resumed training: the page may have missed some.
 *   `setting`: a setting was changed while training, after `step` steps of the fit.
 *   `graph`: the graph of a training step.
 *   `doctor`: all that is wrong with the trainings of the run; `lost`: whether that is why it pauses.
 *   `figure`: what the program shows with `show`, `plot` or matplotlib.
 *   `lab_choices`: what the Lab offers; sent once, at the start.
 *   `lab_fit`: a run in the Lab begins to train; `single`: on one device, without a strategy;
 *     `held_up`: some devices have delays.
 *   `trace`: a measured step of a run in the Lab.
 *   `tuning`: the answer to `tune`.
 *   `checkpoint`: the state of the models that the run has trained, as a file that a later Python
 *     can `restore` or resume. Sent when training begins, then at least every 10 s and more often
 *     at first, at the end of each fit, and after an import; in the Lab only every 8 s.
 *   `reply`: the answer to a `Question`.
 * @typedef {(
 *   | {kind: "status", state: RunState, built?: boolean}
 *   | {kind: "stdout"} & Output
 *   | {kind: "stderr"} & Output
 *   | {kind: "figure", figure: Figure}
 *   | {kind: "error"} & ErrorInfo
 *   | {kind: "fit_begin", points?: [number, number, number | null][]} & Fit
 *   | {kind: "progress", epoch: number, step: number, total_steps: number,
 *      points: [number, number, number | null][], steps_per_second: number, seconds: number,
 *      eta_seconds: number | null}
 *   | {kind: "epoch_end", epoch: number, step: number, loss: number, accuracy: number | null,
 *      test_loss: number | null, test_accuracy: number | null, seconds: number}
 *   | {kind: "fit_end", reason: "completed" | "stopped" | "failed", steps: number, seconds: number,
 *      test_accuracy: number | null, dispatches_per_step: number, parallel: ParallelReport}
 *   | {kind: "setting"} & SettingChange
 *   | {kind: "graph", graph: Graph}
 *   | {kind: "doctor", findings: Finding[], lost: boolean}
 *   | {kind: "lab_choices"} & LabChoices
 *   | {kind: "lab_fit", title: string, devices: number, single: boolean, held_up: boolean}
 *   | {kind: "trace", seconds: number} & Trace
 *   | {kind: "tuning"} & Tuning
 *   | {kind: "checkpoint", bytes: Uint8Array} & CheckpointInfo
 *   | Reply
 * )} PythonEvent
 * @typedef {(
 *   | {kind: "reply", id: number, ok: false, error: ErrorInfo}
 *   | {kind: "reply", id: number, ok: true} & Answer
 * )} Reply
 */

/**
 * Page → Python, through the mailbox: commands, whose effects are events, and questions, which are
 * answered by a `reply` with the same `id`.
 *   `trace`: measure the next step of the run in the Lab.
 *   `tune`: measure one more kernel of the GPU if necessary; takes a moment.
 *   `run`: with the option `resume`, the last checkpoint is the payload of the frame.
 *   `import`: the content of the file is the payload of the frame.
 *   `restore`: take the trained model from the checkpoint that is the payload, without its program,
 *     and answer `export`, `import` and `predict` from it until a run trains a model.
 *   `attention`, `export`, `inspect_layers`, `next_tokens`, `one_sample`, `outputs`, `predict`, `projection`,
 *     `samples`, `task_view`: about the model as it was at the checkpoint that is the payload, if there is one.
 *   `predict`: 784 pixels from 0 to 1, row by row.
 *   `outputs`: of the model for inputs as they are, such as positions of a game.
 *   `execution`: run a training step and undo it, to measure its operations; `apart`: with a kernel
 *     for each, where small ones share kernels otherwise.
 *   `operations`: run a training step on copies of the variables, operation by operation.
 *   `task_view`: the model's answers for its data; `known`: the version of the data that the page has;
 *     `sample`: of the text that it writes, if its data is text.
 *   `inspect_layers`: the layers of the model, and one of them for one sample.
 *   `samples`: the model's predictions for some of the samples; `one_sample`: for any one; `projection`: the samples in the plane of a
 *     layer's principal components, the last hidden one for "", or in a space of more `dimensions`;
 *     `known`: the version of the samples that the page has.
 *   `attention`: the weights of attention for one sample, in the layer with this name or the first.
 *   `next_tokens`: what the model expects after each position of a text, or of a sample for null.
 *   `node_view`: the value of a node of the graph, or the gradient of the loss with respect to it, in
 *     the last or first batch, or for one sample.
 *   `node_kernel`: the kernel that computes a node.
 *   `node_time`: measure a node by itself.
 *   `kernel_bench`: open the bench of a node's kernels, or try the text that comes with the question
 *     in place of number `kernel` of them: check what it computes, or measure its time.
 *   `node_find`: the nodes for which a query holds; see `app/playgrad/inspection/query.py`.
 *   `prompt`: execute code with the names of the program; what it prints are events.
 *   `complete`: the names that can follow at the end of the text.
 *   `histograms`: what was recorded of the layers; for some seconds after each question, more is recorded.
 * @typedef {(
 *   | {kind: "run", source: string, options: RunOptions}
 *   | {kind: "pause"}
 *   | {kind: "resume"}
 *   | {kind: "step", unit: StepUnit}
 *   | {kind: "set_learning_rate", value: number}
 *   | {kind: "trace"}
 *   | {kind: "reset"}
 *   | {kind: "tune"}
 * )} Command
 * @typedef {(
 *   | {kind: "export", format: ExportFormat, names?: DataNames}
 *   | {kind: "import", name: string, matching?: Record<string, string>}
 *   | {kind: "model_file", name: string, sequence_length?: number}
 *   | {kind: "restore"}
 *   | {kind: "predict", pixels: number[]}
 *   | {kind: "outputs", x: number[][]}
 *   | {kind: "placement"}
 *   | {kind: "graph"}
 *   | {kind: "execution", apart: boolean}
 *   | {kind: "operations"}
 *   | {kind: "task_view", known: number, sample?: Sample}
 *   | {kind: "inspect_layers"} & LayersQuestion
 *   | {kind: "samples", known: number}
 *   | {kind: "one_sample", number: number}
 *   | {kind: "projection", known: number, layer: string, dimensions: number}
 *   | {kind: "attention", sample: number, layer: string}
 *   | {kind: "next_tokens", text: string | null, sample: number, temperature: number}
 *   | {kind: "node_view", name: string, output: number, part: "value" | "gradient", sample: BatchChoice}
 *   | {kind: "node_kernel", name: string}
 *   | {kind: "node_time", name: string}
 *   | {kind: "kernel_bench", name: string, action: "open" | "check" | "time" | "close", kernel: number}
 *   | {kind: "node_find", query: string}
 *   | {kind: "prompt", code: string}
 *   | {kind: "complete", text: string}
 *   | {kind: "histograms"}
 * )} Question
 * @typedef {Command | Question & {id: number}} Request
 * @typedef {{
 *   export: {filename: string, bytes: Uint8Array, sha256: string},
 *   import: {names: string[], matching: Matching | null},
 *   model_file: {model: ModelFile},
 *   restore: {names: string[]},
 *   predict: {probabilities: number[], label: number},
 *   outputs: {outputs: Uint8Array},
 *   placement: {placement: Placement},
 *   graph: {graph: Graph},
 *   execution: {execution: Execution},
 *   operations: {operations: StepOperations},
 *   task_view: {task: TaskView},
 *   inspect_layers: {layers: LayersView},
 *   samples: {samples: SamplesView},
 *   one_sample: {one_sample: OneSampleView},
 *   projection: {projection: ProjectionView},
 *   attention: {attention: AttentionView},
 *   next_tokens: {next_tokens: NextTokensView},
 *   node_view: {node: NodeView},
 *   node_kernel: {node_kernel: {kernel: NodeKernel | null, problem: Unavailable | null}},
 *   node_time: {node_time: {measured: NodeTime | null, problem: Unavailable | null}},
 *   kernel_bench: {bench: KernelBench},
 *   node_find: {nodes: NodeMatches},
 *   prompt: {outcome: "done" | "error" | "interrupted"},
 *   complete: {completions: {label: string, type: string}[]},
 *   histograms: {histograms: HistogramView},
 * }} Answers by the kind of the question
 * @typedef {Answers[keyof Answers]} Answer
 */

/**
 * Page → device worker.
 *   `look`: find the GPU, and answer with `device`.
 *   `connect`: serve the calls of a Python worker on `port` as `device`, in place of the last one,
 *     and hold `lock` until the worker ends.
 * @typedef {(
 *   | {kind: "look"}
 *   | {kind: "connect", template?: Template} & DeviceEnds
 * )} DeviceCommand
 */

/**
 * Device worker → page.
 *   `device_worker`: "starting", "ready" to be called, or "lost" (worker or GPU; the next run starts
 *     a new one). The page reports the end of a worker in the same way.
 *   `kept_data`: all data sets that are on the device now.
 *   `loading`: as from the Python worker; sent by processors' workers.
 * @typedef {(
 *   | {kind: "device", available: true, info: AdapterInfo}
 *   | {kind: "device", available: false, error: string, reason: import("./gpu-reasons.js").GpuReason | null}
 *   | {kind: "device_worker", device: string, state: "starting" | "ready" | "lost", message?: string}
 *   | {kind: "kept_data", device: string, contents: Contents}
 *   | Loading
 * )} DeviceEvent
 */

/**
 * Python → device worker, on the port. The arguments travel as JSON in `text`, the bytes of writes
 * in `buffers`; each call is answered by one frame, in order, with a value or an error.
 *   `expect`: a Plan with these kernels will be loaded soon.
 *   `open`: answered with the data sets that an earlier Python worker left on the device: buffer,
 *     number of the content, size of the buffer.
 *   `execute`: see `Runner.begin`.
 *   `serve`: any request to a processor's worker; see `app/playgrad/devices/remote_cpu.py`.
 * @typedef {{
 *   list: {},
 *   open: {},
 *   close: {},
 *   create_buffer: {size: number},
 *   destroy_buffer: {buffer: number},
 *   expect: {kernels: PlanKernel[]},
 *   load: {plan: Plan, external: Record<string, number>},
 *   unload: {program: number},
 *   execute: {program: number | null, segment: number, steps: number,
 *             writes: [BufferKey, number][], reads: [BufferKey, number, number][]},
 *   stats: {},
 * }} DeviceArguments by call
 * @typedef {{
 *   list: AdapterInfo[],
 *   open: {device: number, info: AdapterInfo, kept: [number, number, number][]},
 *   close: null,
 *   create_buffer: number,
 *   destroy_buffer: null,
 *   expect: null,
 *   load: number,
 *   unload: null,
 *   execute: {steps_done: number, seconds: number},
 *   stats: {buffers: number, bytes: number, peak_bytes: number, programs: number},
 * }} DeviceValues by call
 * @typedef {{call: keyof DeviceArguments | "serve", device: number, text: string,
 *            buffers: Uint8Array[]}} DeviceCall
 *   `device`: the worker's id of the open device; 0 for calls to the worker itself
 */

/**
 * The data that these messages carry:
 *
 * @typedef {"batch" | "epoch"} StepUnit the end of an epoch ends a step of "epoch"
 * @typedef {"idle" | "running" | "paused" | "stopped" | "done" | "error"} RunState
 * @typedef {{type: string, message: string, line: number | null, op: string | null,
 *            traceback?: string, problem?: Problem | null}} ErrorInfo `line` of the user's program, `op`: the node concerned
 * @typedef {{code: string, values: Record<string, number | string>}} Problem
 *   an error of a kind that Blocks can mend: `values` are those of its sentence, see run-problem.js
 * @typedef {"safetensors" | "npz" | "onnx" | "keras" | "pytorch" | "tfjs" | "script" | "page"} ExportFormat
 * @typedef {{shape: (number | null)[], dtype: string}} ModelTensor the shape of one sample; null for a free size
 * @typedef {{parameters: number, layers: number, compiled: boolean, sequence_length: number | null, inputs: ModelTensor[],
 *            outputs: ModelTensor[]}} ModelFile `sequence_length`: the steps of samples, for a file that leaves them open
 *   `compiled`: whether the file has the settings of compile
 * @typedef {{slot: string, weights: string[], shape: number[], tensor: string | null,
 *            how: "name" | "layer" | "shape" | "hand" | null, choices: string[]}} MatchingRow
 *   `slot`: a tensor that the network takes; `tensor`: that of the file; `choices`: those that fit
 * @typedef {{layout: "keras" | "pytorch", rows: MatchingRow[],
 *            tensors: {name: string, shape: number[]}[]}} Matching
 *   of a file whose names differ from those of the weights; nothing is loaded yet
 * @typedef {{title: string, classes: string[], columns: string[]}} DataNames
 *   of the program, and of classes and columns of its data as far as they are known
 *
 * @typedef {{name: string, vendor: string, architecture: string, backend: string,
 *            is_software: boolean, has_quads: boolean, limits: Record<string, number>,
 *            features: string[]}} AdapterInfo
 *   as `AdapterInfo` in `app/playgrad/devices`, except for the driver, which browsers do not report
 * @typedef {{kernels: Record<string, string>, measured: boolean, wanted: boolean}} Tuning
 *   `kernels`: the variant in use, by kind; `wanted`: whether the GPU should be measured further
 *
 * @typedef {{epochs: number, steps_per_epoch: number, total_steps: number, batch_size: number,
 *            metrics: string[], device: string, device_reason: string, adapter: string | null,
 *            parameters: number, done: number}} Fit
 *   `device_reason`: why "auto" took the device, in a sentence; empty if the user named it;
 *   `done`: the steps that were done before, by the run that this one resumes
 * @typedef {{step: number, name: string, before: number, after: number}} SettingChange
 * @typedef {{code: string, node: string | null, line: number | null,
 *            values: Record<string, number | string>, edit: SuggestedEdit | null}} Finding
 *   an illness of a training: `values` are those of its sentence, see doctor-words.js
 * @typedef {{code: string, values: Record<string, number | string>, changes: LineChange[]}} SuggestedEdit
 * @typedef {{line: number, column: number, end_line: number, end_column: number, old: string,
 *            text: string}} LineChange
 *   lines of the program from 1, characters from 0; the last change of an edit comes first
 * @typedef {{text: string, left_out?: number, end?: string}} Output
 *   of a flood: its first part, the number of characters that were left out, and its last part
 * @typedef {(
 *   | {shows: "pictures", title: string, count: number, height: number, width: number, channels: number,
 *      scale: "grey" | "diverging" | "colour", low: number, high: number, note: string, pixels: Uint8Array}
 *   | {shows: "plot", title: string, style: "line" | "points", x_label: string, y_label: string,
 *      series: PlotSeries[]}
 *   | {shows: "image", title: string, width: number, height: number, axes: PlotAxes[], png: Uint8Array}
 * )} Figure
 *   `pixels`: (count, height, width, channels) bytes, from 0 at `low` to 255 at `high`; in "diverging",
 *   128 is 0; `note`: what is not shown, in words; `width`, `height` of an image: in pixels of the page, of
 *   which its `png` has more
 * @typedef {{title: string, x_label: string, y_label: string, labels: string[], lines: number,
 *            images: number, points: number, shapes: number}} PlotAxes
 *   what is in a plot of matplotlib
 * @typedef {{label: string, x: Uint8Array, y: Uint8Array, total: number}} PlotSeries
 *   the numbers as float64, least byte first; `total`: how many points there are, of which some are drawn
 * @typedef {{step: number, total_steps: number, epoch: number, epochs: number, parameters: number,
 *            finished: boolean}} CheckpointInfo
 *   of the last fit: the steps done, the epoch under way, and whether the fit is completed
 * @typedef {{updates?: Record<string, number>, staleness?: Record<string, number>,
 *            mean_staleness?: number, lost?: Record<string, string>}} ParallelReport
 *   the report of an asynchronous strategy; empty for others
 *
 * @typedef {"forward" | "gradient" | "update" | "input" | "variable"} NodePhase
 * @typedef {{name: string, op: string, scope: string, phase: NodePhase, device: string | null,
 *            shape: (number | null)[] | null, dtype: string | null, line: number | null,
 *            attrs: Record<string, string>}} GraphNode
 * @typedef {{from: string, to: string, output: number, control: boolean}} GraphEdge
 * @typedef {{name: string, nodes: GraphNode[], edges: GraphEdge[]}} Graph
 *
 * @typedef {(
 *   | {shows: "none" | "unknown", version: number, seconds: number}
 *   | {shows: "plane", data?: PlaneData, outputs: Uint8Array, layers: UnitMaps[]} & ViewFacts
 *   | {shows: "images", data?: PictureData, predicted: number[], chances: number[] | null} & ViewFacts
 *   | {shows: "classes", data?: ClassData, predicted: number[]} & ViewFacts
 *   | {shows: "rows", data?: RowData, predicted: Uint8Array, error: number, explained: number | null} & ViewFacts
 *   | {shows: "text", data?: TextData, prompt: string, predicted: string, expected: Expected[],
 *      problem: string | null} & ViewFacts
 * )} TaskView
 *   `data` is left out if the page has it. Numbers in bytes are float32, least byte first.
 *   `unknown`: the model was restored, without its data;
 *   `plane`: `outputs` (cells, outputs) over a grid of side × side cells, row by row from the top;
 *   `images`: the class predicted for each image, −1 for outputs that are NaN, and its probability;
 *   `classes`: the class predicted for each row of a table, or −1;
 *   `rows`: the mean absolute error, and the explained part of the variance, of the rows that are shown;
 *   `text`: what the model writes after the prompt, what it expected there, most probable first, and
 *   what is wrong with the prompt
 * @typedef {{version: number, seconds: number}} ViewFacts
 *   `version`: of the data; `seconds`: how long the answer took
 * @typedef {{side: number, across: number[], up: number[], scale: Scale, classes: number,
 *            train: TargetedPoints, test: TargetedPoints | null}} PlaneData
 *   `across`, `up`: from and to; `classes`: 0 for numbers
 * @typedef {{points: Uint8Array, targets: Uint8Array, total: number}} TargetedPoints
 *   (points, 2) and their classes or numbers; `total`: how many the data set has
 * @typedef {{name: string, units: number, side: number, maps: Uint8Array}} UnitMaps
 *   pictures of the layer's first units, side × side bytes each; 128 is 0
 * @typedef {{height: number, width: number, channels: number, pixels: Uint8Array, labels: number[],
 *            tested: boolean, total: number}} PictureData `tested`: not trained with
 * @typedef {{labels: number[], classes: number, tested: boolean, total: number}} ClassData
 * @typedef {{truth: Uint8Array, tested: boolean, total: number}} RowData
 * @typedef {{prompt: string, unit: "character" | "word", tokens: number, least: number}} TextData
 *   `prompt`: one from the data; `tokens`: of the vocabulary; `least`: how many a prompt needs
 * @typedef {{token: string, chance: number}} Expected
 * @typedef {{reason: "untrained" | "data" | "large" | "restored" | null, steps: number[], layers: LayerHistograms[],
 *            left_out: number, pending: number, seconds: number}} HistogramView
 *   `reason`: why there is nothing; `left_out`: the number of further layers; `pending`: the number of steps whose
 *   records the next answers have
 * @typedef {{name: string, series: HistogramSeries[], ratios: (number | null)[]}} LayerHistograms
 *   `ratios`: for each of the steps, norm of the change of the weights in the next step over their norm
 * @typedef {{kind: "weights" | "gradients" | "activations", steps: number[], range: number, counts: Uint8Array,
 *            sizes: (number | null)[], spreads: (number | null)[], strays: number[]}} HistogramSeries
 *   `counts`: uint32, least byte first, for each step and bin, from -range to range; `sizes`: mean magnitudes;
 *   `spreads`: standard deviations; `strays`: how many values are NaN or infinite
 * @typedef {{prompt: string | null, temperature: number, seed: number, seconds: number}} Sample
 *   `prompt`: null for that from the data; `seconds`: no further token is begun after them
 * @typedef {{layer: string | null, sample: number, pixels: number[] | null, edits: ValueEdit[],
 *            scaled: UnitEdit[]}} LayersQuestion
 *   `layer`: null for the first with weights; `pixels`: a drawing in place of the sample of that number;
 *   `edits`: to the sample or the drawing
 * @typedef {{layer: string, unit: number, factor: number}} UnitEdit a unit that gives a multiple of its value
 * @typedef {{at: number, value: number}} ValueEdit `at`: index in the sample's values, row by row
 * @typedef {{seconds: number, lines: LayerLine[], layer: string, weights: WeightView[], result: LayerResult | null,
 *            sample: InspectedSample | null, scaled: UnitEdit[], effect: UnitsEffect | null,
 *            travel: {name: string | null, ratio: number | null}[] | null}} LayersView
 *   `travel`: norm of the change over the norm of the original, for the input (its name is null) and each
 *   layer's result; null in place of infinity, and for no edit of the sample or a unit
 * @typedef {{name: string, type: string, shape: (number | null)[], parameters: number, line: number | null}} LayerLine
 *   `shape`: of the result for a sample; `line`: of the program
 * @typedef {{name: string, shape: number[], mean: number, deviation: number, smallest: number, largest: number,
 *            norm: number, zeros: number, layout: "filters" | "matrix", rows: number, columns: number,
 *            height: number, width: number, values: Uint8Array, units: number[], total_units: number,
 *            inputs: number, total_inputs: number, norms: number[]}} WeightView
 *   as `WeightStatistics` and `WeightPicture` in `app/playgrad/inspection/weights.py`
 * @typedef {{shape: number[], units: number[], total_units: number, height: number, width: number,
 *            values: Uint8Array, change: Uint8Array}} LayerResult
 *   (units, height, width) float32; `units`: the numbers of those that are shown; `change`: by edits and
 *   scaled units
 * @typedef {{number: number | null, count: number, tested: boolean | null,
 *            picture: {height: number, width: number, channels: number, pixels: Uint8Array} | null,
 *            target: number | null, outputs: number[], outputs_before: number[], decision: number | null,
 *            decision_before: number | null, values: Uint8Array | null, low: number, high: number,
 *            whole: boolean, tokens: string[] | null}} InspectedSample
 *   `number`: null for a drawing; `tested`: see `SampleNumber`; `outputs`: probabilities if there are any;
 *   `before`: without edits, with all units as they are; `picture`, `values` (float32): without edits; `values`:
 *   null if they cannot be edited; `low`, `high`: black and white; `whole`: integers from 0 to 255;
 *   `tokens`: the first ones of a text
 * @typedef {{samples: number, before: Record<string, number>, after: Record<string, number>}} UnitsEffect
 *   the loss and the metrics of some of the data
 * @typedef {(
 *   | {shows: "none", reason: NoSamples, seconds: number}
 *   | {shows: "samples"} & JudgedSamples
 * )} SamplesView
 * @typedef {(
 *   | {shows: "none", reason: NoSamples, seconds: number}
 *   | {shows: "sample", sample: SampleNumber, seconds: number, predicted: Uint8Array, chances: Uint8Array | null,
 *      losses: Uint8Array, data: SampleData}
 * )} OneSampleView the form is that of the other samples, of which there is one
 * @typedef {(
 *   | {shows: "none", reason: NoSamples, seconds: number}
 *   | {shows: "points", layer: string, layers: {name: string, size: number}[], projected: number,
 *      rows: Uint8Array, dimensions: number, points: Uint8Array, explained: number[]} & JudgedSamples
 * )} ProjectionView
 *   `size`: values for each sample; `projected`: how many samples were; `rows`: the numbers of those
 *   with finite values, and `points` (rows, dimensions) their coordinates; `explained`: shares of the variance
 * @typedef {(
 *   | {shows: "none", reason: "restored" | "data" | "program" | "attention", seconds: number}
 *   | {shows: "maps", seconds: number, layers: {name: string, heads: number}[], layer: string, sample: SampleNumber,
 *      total: {heads: number, queries: number, keys: number}, heads: number, queries: number, keys: number,
 *      query_tokens: string[] | null, key_tokens: string[] | null, weights: Uint8Array}
 * )} AttentionView
 *   `attention`: the network has none; `weights` (heads, queries, keys): the first ones, of `total`; tokens:
 *   at the positions, if the sequence is that of the sample
 * @typedef {(
 *   | {shows: "none", reason: "restored" | "untrained" | "text", seconds: number}
 *   | {shows: "tokens", seconds: number, unit: "character" | "word", least: number, length: number,
 *      sample: SampleNumber, text: string, total: number, tokens: string[], predictions: NextToken[],
 *      perplexity: number | null, problem: string | null}
 * )} NextTokensView
 *   `untrained`: the program has not trained the model; `text`: it does not write text; `least`: tokens before the first prediction; `length`: positions
 *   of the model; `tokens`: the first ones, of `total`; `problem`: why the text does not fit
 * @typedef {{position: number, top: Expected[], came: (Expected & {rank: number}) | null}} NextToken
 *   what is expected after a position, from 0; `came`: the token that follows there, if one does
 * @typedef {{number: number, count: number, tested: boolean | null}} SampleNumber
 *   `tested`: not trained with; null if that is unknown, because the program has not trained the model
 * @typedef {"restored" | "data" | "program" | "loss" | "targets" | "outputs" | "layers"} NoSamples
 *   why there are none: the model was restored, without its data; it has several inputs or outputs; it was
 *   not trained, and the program has no data for it, or it has no loss, or its data no targets; it does not
 *   predict one class or number for each sample; no layer has values to project
 * @typedef {{version: number, seconds: number, predicted: Uint8Array, chances: Uint8Array | null,
 *            losses: Uint8Array, data?: SampleData}} JudgedSamples
 *   classes or numbers, −1 for no class, with their probabilities and losses; `data` is left out if
 *   the page has it
 * @typedef {{tested: boolean | null, total: number, classes: number, numbers: Uint8Array, truth: Uint8Array,
 *            pictures: SamplePictures | null, rows: SampleRows | null, texts: string[] | null}} SampleData
 *   `classes`: 0 for numbers; `numbers` (int32): of the samples in the data; of the inputs, one form is not null
 * @typedef {{height: number, width: number, channels: number, pixels: Uint8Array}} SamplePictures
 * @typedef {{columns: number, all: number, values: Uint8Array}} SampleRows
 *   (samples, columns), the first of `all` values of each sample
 * @typedef {"softmax" | "probabilities" | "scores" | "sigmoid" | "probability" | "margin" | "linear"} Scale
 *   as in `app/playgrad/inspection/outputs.py`
 *
 * @typedef {{outputs: number, samples: number | null, test_samples: number | null, summary: Summary | null,
 *            pictures: NodePictures | null, problem: Unavailable | null, seconds: number}} NodeView
 *   `outputs`: of the node; `samples`: of the data set, one of which can be chosen, and
 *   `test_samples` of the test data; `pictures`: null
 *   for values of another kind; `problem`: why there is no summary
 * @typedef {{matches: [string, number][], total: number, checked: number, skipped: number,
 *            problem: Unavailable | null, seconds: number}} NodeMatches
 *   `matches`: the first ones, with the number that the query compares; `skipped`: nodes whose values
 *   cannot be computed
 * @typedef {{device: string, within: string | null, fused: string[], commands: NodeCommand[],
 *            total: number}} NodeKernel
 *   `within`: the node that this one was fused into; `fused`: those that are computed with it;
 *   `commands`: its dispatches, none on a processor; `total`: the dispatches of a step
 * @typedef {{family: string, workgroups: number[], nodes: string[], wgsl: string, length: number}} NodeCommand
 *   `wgsl`: the source, or the beginning of its `length` characters
 * @typedef {{seconds: number, runs: number, device: string}} NodeTime `runs`: in a row
 * @typedef {{opened: {adapter: string, of_run: boolean, nodes: string[], kernels: string[]} | null, report: KernelReport | null,
 *            times: KernelTimes | null, problem: Unavailable | null}} KernelBench
 *   what the question was for; `nodes`: those that the kernels compute; `kernels`: their WGSL
 * @typedef {{passed: boolean, samples: {name: string, problem: string | null}[], others: number,
 *            error: string | null, line: number | null}} KernelReport
 *   `samples`: "step", "run", "normal", "zeros", "large" or "contract 3"; `others`: samples of the op contract
 *   with another kernel; `error`: of the compiler, about a line
 * @typedef {{before: number, after: number, limit: number, moved: number, operations: number,
 *            runs: number, error: string | null}} KernelTimes
 *   seconds of a run with the compiler's kernel, with the edited one, and the least that the device
 *   could take to move that many bytes and do that many operations
 * @typedef {{code: string, values: Record<string, string | number>}} Unavailable
 * @typedef {{shape: number[], dtype: string, count: number, statistics: Record<string, number | null>,
 *            histogram: Histogram | null, grid: ValueGrid}} Summary of an array
 * @typedef {{of: "samples" | "channels" | "filters" | "units", total: number, count: number, height: number,
 *            width: number, channels: number, scale: "grey" | "diverging" | "colour", low: number,
 *            high: number, pixels: Uint8Array}} NodePictures
 *   the first `count` of `total`, a byte for each value from `low` to `high`; channels are those of one sample
 * @typedef {number | {test: number} | "last" | null} BatchChoice
 *   a training or test sample in all places of a batch, the last batch, or the first one
 * @typedef {{low: number, high: number, counts: number[], sampled: boolean}} Histogram
 *   of the finite values; `sampled`: not all of them are counted
 * @typedef {{values: Uint8Array, rows: number[], columns: number[], total_rows: number,
 *            total_columns: number}} ValueGrid
 *   float32, least byte first, row by row; `rows` and `columns`: the numbers of those that are shown
 *
 * @typedef {{device: "auto" | "gpu" | "cpu", paused: boolean, devices?: number,
 *            lab?: LabOptions, resume?: boolean, doctor?: boolean, phrases?: Record<string, string>}} RunOptions
 *   `devices`: logical devices of each kind; `lab`: the Lab's settings that apply to the strategy;
 *   `doctor`: whether trainings are watched for illnesses; those of the Lab never are;
 *   `phrases`: what Python prints, in the language of the page;
 *   `resume`: fits go on where the checkpoint, the payload, was made; those that it has completed
 *   return at once, without events
 * @typedef {{strategy: string} & Partial<LabDetails>} LabOptions
 * @typedef {{devices: number, micro_batches: number, schedule: string, chunks: number,
 *            collective: string, staleness: number | null, every: number, delays: number[],
 *            steps: number}} LabDetails
 *   `staleness`: null for unbounded; `delays`: milliseconds, by device; `steps`: 0 for the number
 *   that the program says
 * @typedef {keyof LabDetails} LabDetail
 * @typedef {{name: string, title: string, about: string, uses?: LabDetail[]}} LabChoice
 *   `uses`: the details that apply to this choice
 * @typedef {{strategies: LabChoice[], schedules: LabChoice[], collectives: LabChoice[],
 *            details: LabChoice[]}} LabChoices `details`: the numbers, with their explanations
 *
 * @typedef {{name: string, device: string, start: number, end: number, kind: string,
 *            bytes: number}} TraceEvent milliseconds since the beginning of the step
 * @typedef {{device: string, kinds: Record<string, number>, idle: number, sent: number,
 *            received: number}} DeviceTime seconds and bytes
 * @typedef {{steps: number, seconds: number, bubble: number, communication: number,
 *            bytes_moved: number, devices: DeviceTime[]}} Timeline
 * @typedef {{steps: number, timeline: Timeline, events: TraceEvent[],
 *            bubble_formula: number | null, memory: Record<string, number>}} Trace
 *   `steps`: how many were traced together; `memory`: bytes, by device
 * @typedef {TraceEvent & {nodes: string[], kernel: string}} ExecutionEvent
 *   `nodes`: those that it computes; `kernel`: the family of the GPU's kernel, "" on processors
 * @typedef {{duration: number, events: ExecutionEvent[], left_out: number,
 *            clocks: Record<string, string>, round_trips: Record<string, number>, chrome: string}} Execution
 *   in milliseconds; `clocks`: how each device was timed, as in runtime/trace.py; `round_trips`: of
 *   an empty call, by device; `chrome`: the trace for other programs, as JSON
 * @typedef {{name: string, shape: number[], dtype: string, statistics: Record<string, number | null>}} TensorSight
 *   `statistics`: `min`, `max`, `mean` and `std`; none of a data set
 * @typedef {{name: string, op: string, device: string, members: string[], waits_for: number, ready: number[],
 *            released: [number, number, number][], inputs: TensorSight[], outputs: TensorSight[],
 *            dispatch: number | null, kernel: string}} Operation
 *   `members`: the nodes that were fused into it; `waits_for`: the number of operations that it waits for;
 *   `ready`: the places, in the order of execution, of those in the queue when it was taken; `released`: the
 *   place of each that waited for it, with its count before and after
 * @typedef {{operations: Operation[], left_out: number,
 *            passes: {name: string, before: number, after: number}[]}} StepOperations
 *   in the order of execution; `passes`: of the compiler, with the number of nodes before and after each
 * @typedef {{headline: string, seconds: number, seconds_alone: number, bytes_moved: number,
 *            rows: {scope: string, nodes: string[], device: string, reason: string}[]}} Placement
 *
 * @typedef {{device: string, lock: string, port: MessagePort, control: SharedArrayBuffer,
 *            reply: SharedArrayBuffer}} DeviceEnds a device worker's ends of the connection
 * @typedef {{control: SharedArrayBuffer, mailbox: SharedArrayBuffer}} SharedMemory
 *
 * @typedef {Map<number, {number: number, size: number, bytes: Uint8Array}>} Contents
 *   data sets by the ids of their buffers, which have `size` bytes; two contents of a worker never
 *   have the same number
 * @typedef {number | [number, number]} BufferKey a buffer's id, or [program, buffer id in its Plan]
 * @typedef {import("./program.js").Plan} Plan
 * @typedef {import("./program.js").PlanKernel} PlanKernel
 */
export {};
