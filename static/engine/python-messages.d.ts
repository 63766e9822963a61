// The types of Python's messages. Made by `python -m tools.messages`; its source is app/playgrad/page.
export type PythonEvent =
  | {kind: "status"} & Status
  | {kind: "stdout"} & Output
  | {kind: "stderr"} & Output
  | {kind: "figure"} & ShownFigure
  | {kind: "error"} & ErrorInfo
  | {kind: "game"} & LearnedGame
  | {kind: "fit_begin"} & Fit
  | {kind: "progress"} & Progress
  | {kind: "epoch_end"} & EpochEnd
  | {kind: "rating"} & Rating
  | {kind: "fit_end"} & FitEnd
  | {kind: "setting"} & SettingChange
  | {kind: "graph"} & DrawnGraph
  | {kind: "doctor"} & Findings
  | {kind: "lab_choices"} & LabChoices
  | {kind: "lab_fit"} & LabFit
  | {kind: "trace"} & TracedStep
  | {kind: "tuning"} & Tuning
  | {kind: "checkpoint"} & CheckpointEvent
  | {kind: "trial_start"} & TrialStart
  | {kind: "trial_message"} & TrialMessage
  | {kind: "trial_verdict"} & TrialVerdict
  | {kind: "trials_end"}
  | Reply;
export type Command =
  | {kind: "run"} & RunCommand
  | {kind: "pause"}
  | {kind: "resume"}
  | {kind: "step"} & StepCommand
  | {kind: "set_learning_rate"} & LearningRateCommand
  | {kind: "trace"}
  | {kind: "reset"}
  | {kind: "tune"}
  | {kind: "trial_message"} & TrialMessageCommand
  | {kind: "trial_verdict"} & TrialVerdictCommand;
export type Question =
  | {kind: "attention"} & AttentionQuestion
  | {kind: "complete"} & CompleteQuestion
  | {kind: "computed_nodes"}
  | {kind: "execution"} & ExecutionQuestion
  | {kind: "export"} & ExportQuestion
  | {kind: "game_view"} & GameQuestion
  | {kind: "graph"}
  | {kind: "graph_files"} & Omit<GraphFilesQuestion, "payload">
  | {kind: "histograms"}
  | {kind: "import"} & Omit<ImportQuestion, "payload">
  | {kind: "inspect_layers"} & LayersQuestion
  | {kind: "kernel_bench"} & Omit<BenchQuestion, "payload">
  | {kind: "model_file"} & Omit<ModelFileQuestion, "payload">
  | {kind: "next_tokens"} & NextTokensQuestion
  | {kind: "node_find"} & NodeQuery
  | {kind: "node_kernel"} & NamedNode
  | {kind: "node_time"} & NamedNode
  | {kind: "node_view"} & NodeQuestion
  | {kind: "one_sample"} & OneSampleQuestion
  | {kind: "operations"}
  | {kind: "outputs"} & OutputsQuestion
  | {kind: "placement"}
  | {kind: "predict"} & PredictQuestion
  | {kind: "projection"} & ProjectionQuestion
  | {kind: "prompt"} & PromptQuestion
  | {kind: "restore"}
  | {kind: "samples"} & SamplesQuestion
  | {kind: "shrink_begin"}
  | {kind: "shrink_choose"} & ShrinkChoice
  | {kind: "shrink_export"} & ShrinkExportQuestion
  | {kind: "shrink_next"} & ShrinkNextQuestion
  | {kind: "shrink_report"} & ShrunkQuestion
  | {kind: "shrink_tune"} & ShrinkChoice
  | {kind: "speed_begin"} & SpeedQuestion
  | {kind: "speed_next"}
  | {kind: "speed_texts"}
  | {kind: "task_view"} & TaskQuestion
  | {kind: "trees"} & TreesQuestion;
export interface Answers {
  attention: AttentionView;
  complete: Completion[];
  computed_nodes: ComputedNodes;
  execution: Execution;
  export: ExportedFile;
  game_view: GameView;
  graph: Graph;
  graph_files: GraphFiles;
  histograms: HistogramView;
  import: Imported;
  inspect_layers: LayersView;
  kernel_bench: KernelBench;
  model_file: ModelFile;
  next_tokens: NextTokensView;
  node_find: NodeMatches;
  node_kernel: NodeKernelView;
  node_time: NodeTimeView;
  node_view: NodeView;
  one_sample: OneSampleView;
  operations: StepOperations;
  outputs: Uint8Array;
  placement: Placement;
  predict: Prediction;
  projection: ProjectionView;
  prompt: "done" | "error" | "interrupted";
  restore: RestoredWeights;
  samples: SamplesView;
  shrink_begin: ShrinkBegun;
  shrink_choose: ShrinkChoice;
  shrink_export: ExportedFile;
  shrink_next: ShrinkProgress;
  shrink_report: ShrunkReport;
  shrink_tune: ShrinkChoice;
  speed_begin: SpeedState;
  speed_next: SpeedState;
  speed_texts: SpeedTexts;
  task_view: TaskView;
  trees: TreesView;
}
export type AttentionLayer = {name: string, heads: number};
/** `weights` (heads, queries, keys): float32, the first ones, of `total`; tokens: at the positions, if the sequence is that of the sample. */
export type AttentionMaps = {shows: "maps", layers: AttentionLayer[], layer: string, sample: SampleNumber, total: AttentionSize, heads: number, queries: number, keys: number, query_tokens: string[] | null, key_tokens: string[] | null, weights: Uint8Array, seconds: number};
/** `layer`: a name, or any other text for the first layer with attention. */
export type AttentionQuestion = {sample: number, layer: string};
export type AttentionSize = {heads: number, queries: number, keys: number};
export type AttentionView = NoAttention | AttentionMaps;
export type BatchChoice = number | TestSample | "last" | null;
/** Open the bench of a node's kernels, or try the ``payload`` in place of number `kernel` of them: check its results, or measure its time. */
export type BenchQuestion = {name: string, action: "open" | "check" | "time" | "close", kernel: number, payload?: Uint8Array};
export type CheckedSample = {name: string, problem: string | null};
/** The state of the models that the run has trained, as a file that a later Python can `restore` or resume. Sent when training begins, then at least every 10 s and more often at first, at the end of each fit, and after an import; in the Lab only every 8 s. */
export type CheckpointEvent = {step: number, total_steps: number, epoch: number, epochs: number, parameters: number, finished: boolean, bytes: Uint8Array};
export type ClassData = {labels: number[], classes: number, tested: boolean, total: number};
/** The class predicted for each row of a table, or −1. */
export type ClassTask = {shows: "classes", version: number, seconds: number, data?: ClassData, predicted: number[]};
/** The number of nodes before and after it. */
export type CompilerPass = {name: string, before: number, after: number};
export type CompleteQuestion = {text: string};
/** `type`: "variable", "function", "class", "property", "namespace" or "keyword". */
export type Completion = {label: string, type: string};
/** As `playgrad.inspection.computed_nodes.ComputedNodes`, of all graphs that are drawn. */
export type ComputedNodes = {operations: number, compiled_operations: number, compiled: string[], python: Record<string, PythonReason>, problem: UncompiledReason | null};
/** The names of the program, and of the known classes and columns of its data. */
export type DataNames = {title: string, classes: string[], columns: string[]};
/** Seconds and bytes. */
export type DeviceTime = {device: string, kinds: Record<string, number>, idle: number, sent: number, received: number};
export type DrawnGraph = {graph: Graph};
/** Weights of the messages of a layer, float32: along each line to its second node, then along each line to its first one, NaN for no edge; and of each node to itself. */
export type EdgeMessages = {layer: string, weights: Uint8Array, own: Uint8Array};
/** `seconds`: of the epoch. */
export type EpochEnd = {epoch: number, step: number, loss: number, accuracy: number | null, test_loss: number | null, test_accuracy: number | null, seconds: number};
/** `line` of the user's program, `op`: the node concerned. */
export type ErrorInfo = {type: string, message: string, line: number | null, op: string | null, traceback?: string, problem?: Problem | null};
/** Times in milliseconds; `clocks`: how each device was timed, as in runtime/trace.py; `round_trips`: the times of an empty call, by device; `chrome`: the trace for other programs, as JSON. */
export type Execution = {duration: number, events: ExecutionEvent[], left_out: number, clocks: Record<string, string>, round_trips: Record<string, number>, chrome: string};
/** `nodes`: computed by it; `kernel`: the family of a GPU's kernel, "" on processors. */
export type ExecutionEvent = {name: string, device: string, start: number, end: number, kind: string, bytes: number, nodes: string[], kernel: string};
/** `apart`: with a kernel for each operation, where small ones share kernels otherwise. */
export type ExecutionQuestion = {apart: boolean};
export type Expected = {token: string, chance: number};
/** `least`: tokens before the first prediction; `length`: positions of the model; `tokens`: the first ones, of `total`; `problem`: why the text does not fit. */
export type ExpectedTokens = {shows: "tokens", unit: "character" | "word", least: number, length: number, sample: SampleNumber, text: string, total: number, tokens: string[], predictions: NextToken[], perplexity: number | null, problem: string | null, seconds: number};
export type ExportFormat = "safetensors" | "npz" | "onnx" | "keras" | "pytorch" | "tfjs" | "script" | "page";
export type ExportQuestion = {format?: ExportFormat, names?: DataNames};
/** `sha256`: for the page to compare. */
export type ExportedFile = {filename: string, bytes: Uint8Array, sha256: string};
export type Figure = Pictures | Plot | PlottedImage;
export type FileTensor = {name: string, shape: number[]};
/** A fault of a training. `values`: the names and numbers in its sentence. */
export type Finding = {code: string, node: string | null, line: number | null, values: Record<string, string | number>, edit: SuggestedEdit | null};
/** All that is wrong with the trainings of the run; `lost`: that is why it pauses. */
export type Findings = {findings: Finding[], lost: boolean};
/** `device_reason`: why "auto" took the device, in a sentence; empty if the user named it; `done`: the steps that were done before, by the run that this one resumes; `points`: the last ones before a resumed training, some of which the page may have missed. */
export type Fit = {epochs: number, steps_per_epoch: number, total_steps: number, batch_size: number, metrics: string[], device: string, device_reason: string, precision: "float32" | "mixed", adapter: string | null, parameters: number, done: number, points?: ([number, number, number | null])[]};
export type FitEnd = {reason: "completed" | "stopped" | "failed", steps: number, seconds: number, test_accuracy: number | null, dispatches_per_step: number, parallel: ParallelReport};
/** `actions`: their names; `at`: the action of a click in each cell, row by row, or null. */
export type Game = {name: string, rows: number, columns: number, actions: string[], at: (number | null)[], passes: number | null};
/** `actions`: from the beginning of the game; `simulations`: 0 for the network's answer alone; `rules`: for a program that has not made its player yet. */
export type GameQuestion = {actions: number[], simulations: number, rules?: GameRules | null};
/** One of playgrad's games; `size`: its columns. */
export type GameRules = {name: "TicTacToe" | "ConnectFour" | "Othello" | "Go", size: number};
/** `refused`: the first action that breaks the rules: the position is that before it; `search`: null once the game has ended, without a network, or after an action that was refused. */
export type GameView = {game: Game, position: Position, refused: RefusedAction | null, search: Search | null, seconds: number};
export type Graph = {name: string, nodes: GraphNode[], edges: GraphEdge[]};
/** `nodes`: the number of the file that has the nodes, 0 or 1; `id`, `label`, `features`: its columns, `label` null for none; `source`, `target`: columns of the other file. */
export type GraphChoice = {nodes: number, id: string, label: string | null, features: string[], source: string, target: string, directed: boolean};
export type GraphEdge = {from: string, to: string, output: number, control: boolean};
/** `problem`: why there is no graph. */
export type GraphFiles = {sides: GraphSide[], choice: GraphChoice, graph: GraphFound | null, problem: GraphProblem | null};
/** Two CSV files, one after the other: `names`; `first`: bytes of the first one; `choice`: what the tables mean, which is guessed otherwise. */
export type GraphFilesQuestion = {names: [string, string], first: number, payload?: Uint8Array, choice?: GraphChoice};
/** `edges`: rows of edges that differ; `known`: nodes whose class, or number, is known; `counts`: of the nodes of each class; `attributes`: features of edges; `plain`: all features of the nodes are 0 or 1; `content`: an NPZ file. */
export type GraphFound = {nodes: number, edges: number, known: number, classes: string[], counts: number[], features: number, attributes: number, plain: boolean, content: Uint8Array};
export type GraphNode = {name: string, op: string, scope: string, phase: NodePhase, device: string | null, shape: (number | null)[] | null, dtype: string | null, line: number | null, attrs: Record<string, string>};
/** `code`: of the sentence in the page's language; `values`: the numbers and names in it. */
export type GraphProblem = {message: string, code: string, values: Record<string, string | number>};
/** A table: `usable`: for each column, whether it can be features of nodes. */
export type GraphSide = {rows: number, columns: string[], usable: boolean[]};
/** Of the finite values; `sampled`: not all of them are counted. */
export type Histogram = {low: number, high: number, counts: number[], sampled: boolean};
/** `counts`: uint32, least byte first, for each step and bin, from -range to range; `sizes`: mean magnitudes; `spreads`: standard deviations; `strays`: how many values are NaN or infinite. */
export type HistogramSeries = {kind: "weights" | "gradients" | "activations", steps: number[], range: number, counts: Uint8Array, sizes: (number | null)[], spreads: (number | null)[], strays: number[]};
/** `reason`: why there is nothing; `left_out`: the number of further layers; `pending`: the number of steps that the next answers will add. */
export type HistogramView = {reason: "untrained" | "data" | "large" | "restored" | null, steps: number[], layers: LayerHistograms[], left_out: number, pending: number, seconds: number};
/** `payload`: the file; `matching`: the tensor of each slot, for a file with other names. */
export type ImportQuestion = {name: string, payload?: Uint8Array, matching?: Record<string, string>};
export type Imported = {names: string[], matching: Matching | null};
/** `number`: null for a drawing; `tested`: see `SampleNumber`; `outputs`: probabilities if there are any; `before`: without edits, with all units as they are. */
export type InspectedSample = {picture: SamplePicture | null, values: Uint8Array | null, low: number, high: number, whole: boolean, tokens: string[] | null, number: number | null, count: number, tested: boolean | null, target: number | null, outputs: number[], outputs_before: number[], decision: number | null, decision_before: number | null};
/** `kind`: a place in `kinds`. */
export type Joined = {depth: number, kind: number, calls: number};
/** `joins`: the first ones of `steps`; `calls`: the first ones of the sample's `size`. */
export type JoinedTrees = {shows: "trees", folds: string[], fold: string, samples: number, sample: number, kinds: TreeKind[], joins: Joined[], steps: number, depths: number, calls: TreeCall[], size: number, seconds: number};
/** The answer to a question about kernels: the field that was asked for is not null. */
export type KernelBench = {opened: OpenedBench | null, report: KernelReport | null, times: KernelTimes | null, problem: Unavailable | null};
/** `samples`: "step", "run", "normal", "zeros", "large" or "contract 3"; `others`: samples of the op contract with another kernel; `error`: of the compiler, about a line. */
export type KernelReport = {passed: boolean, samples: CheckedSample[], others: number, error: string | null, line: number | null};
/** Seconds of a run with the compiler's kernel, with the edited one, and the least that the device could take to move that many bytes and do that many operations. */
export type KernelTimes = {before: number, after: number, limit: number, moved: number, operations: number, runs: number, error: string | null};
export type KnownCard = {name: string, date: string, driver: string, runner: string};
/** `uses`: the details that apply to this choice. */
export type LabChoice = {name: string, title: string, about: string, uses?: LabDetail[]};
/** The choices of the Lab; `details`: the numbers, with their explanations. */
export type LabChoices = {strategies: LabChoice[], schedules: LabChoice[], collectives: LabChoice[], details: LabChoice[]};
export type LabDetail = "devices" | "micro_batches" | "schedule" | "chunks" | "collective" | "staleness" | "every" | "delays" | "steps";
/** A run in the Lab begins to train; `single`: on one device, without a strategy; `held_up`: some devices have delays. */
export type LabFit = {title: string, devices: number, single: boolean, held_up: boolean};
/** `staleness`: null for unbounded; `delays`: milliseconds, by device; `steps`: 0 for the number that the program says. */
export type LabOptions = {strategy: string, devices?: number, micro_batches?: number, schedule?: string, chunks?: number, collective?: string, staleness?: number | null, every?: number, delays?: number[], steps?: number};
/** `ratios`: for each step, the norm of the weights' change in the next step over their norm. */
export type LayerHistograms = {name: string, series: HistogramSeries[], ratios: (number | null)[]};
/** `shape`: of the result for a sample; `line`: of the program. */
export type LayerLine = {name: string, type: string, shape: (number | null)[], parameters: number, line: number | null};
/** (units, height, width) float32; `units`: the numbers of the shown units; `change`: by edits and scaled units. */
export type LayerResult = {shape: number[], units: number[], total_units: number, height: number, width: number, values: Uint8Array, change: Uint8Array};
/** `layer`: null for the first with weights; `pixels`: a drawing in place of the sample of that number; `edits`: to the sample or the drawing. */
export type LayersQuestion = {layer: string | null, sample: number, pixels: number[] | null, edits: ValueEdit[], scaled: UnitEdit[]};
/** `travel`: norm of the change over the norm of the original, for the input (its name is null) and each layer's result; null in place of infinity, and for no edit of the sample or a unit. */
export type LayersView = {seconds: number, lines: LayerLine[], layer: string, weights: WeightView[], result: LayerResult | null, sample: InspectedSample | null, scaled: UnitEdit[], effect: UnitsEffect | null, travel: Travel[] | null};
/** The program has made a player that learns this game by playing itself. */
export type LearnedGame = {game: Game};
export type LearningRateCommand = {value: number};
/** Lines of the program from 1, characters from 0; the last change of an edit comes first. */
export type LineChange = {line: number, column: number, end_line: number, end_column: number, old: string, text: string};
export type ManySamples = {predicted: Uint8Array, chances: Uint8Array | null, losses: Uint8Array, version: number, seconds: number, data?: SampleData, shows: "samples"};
/** The tensors of a file whose names differ from the weights'; nothing is loaded yet. */
export type Matching = {layout: "keras" | "pytorch", rows: MatchingRow[], tensors: FileTensor[]};
/** `slot`: a tensor that the network takes; `tensor`: the tensor of the file for it; `choices`: the tensors that fit. */
export type MatchingRow = {slot: string, weights: string[], shape: number[], tensor: string | null, how: "name" | "layer" | "shape" | "hand" | null, choices: string[]};
/** `sequence_length`: the steps of samples, for a file that leaves them open; `compiled`: the file has the settings of compile. */
export type ModelFile = {parameters: number, layers: number, sequence_length: number | null, compiled: boolean, inputs: ModelTensor[], outputs: ModelTensor[]};
/** `sequence_length`: that of `load_model`. */
export type ModelFileQuestion = {name: string, payload?: Uint8Array, sequence_length?: number};
/** The shape of one sample; null for a free size. */
export type ModelTensor = {shape: (number | null)[], dtype: string};
export type NamedNode = {name: string};
/** The tokens expected after a position, from 0; `came`: the token that follows, if one does. */
export type NextToken = {position: number, top: Expected[], came: RankedToken | null};
/** `text`: null for that of the sample. */
export type NextTokensQuestion = {text: string | null, sample: number, temperature: number};
export type NextTokensView = NoNextTokens | ExpectedTokens;
/** `attention`: the network has none; `program`: it has no data for the model. */
export type NoAttention = {shows: "none", reason: "restored" | "data" | "program" | "attention", seconds: number};
export type NoFields = {};
/** `untrained`: the program has not trained the model; `text`: it does not write text. */
export type NoNextTokens = {shows: "none", reason: "restored" | "untrained" | "text", seconds: number};
/** There are no samples to show: the model was restored, without its data; it has several inputs or outputs; it was not trained, and the program has no data for it, or it has no loss, or its data no targets; it does not predict one class or number for each sample; no layer has values to project. */
export type NoSampleView = {shows: "none", reason: NoSamples, seconds: number};
export type NoSamples = "restored" | "data" | "program" | "loss" | "targets" | "outputs" | "layers";
/** `unknown`: the model was restored, without its data. */
export type NoTask = {shows: "none" | "unknown", version: number, seconds: number};
/** `fold`: the program has none; `read`: none has read samples. */
export type NoTrees = {shows: "none", reason: "fold" | "read", seconds: number};
export type NodeCommand = {family: string, workgroups: number[], nodes: string[], wgsl: string, length: number};
/** The nodes that are drawn, and lines between them: pairs of their places in ``numbers``. `numbers`: int32; `pairs` (lines, 2): int32; `labels`: int32, −1 for a class that is not known, which the loss leaves out; `trains`: 1 for nodes that count in the loss; `total`, `total_lines`: of the whole graph; `class_names`, `names` of the nodes: [] if they are not known; `messages`: those that training does not change. */
export type NodeData = {numbers: Uint8Array, pairs: Uint8Array, labels: Uint8Array, trains: Uint8Array, classes: number, total: number, total_lines: number, class_names: string[], names: string[], messages: EdgeMessages[]};
export type NodeKernel = {device: string, within: string | null, fused: string[], commands: NodeCommand[], total: number};
export type NodeKernelView = {kernel: NodeKernel | null, problem: Unavailable | null};
/** `matches`: the first ones, with the number that the query compares; `skipped`: nodes whose values cannot be computed. */
export type NodeMatches = {matches: [string, number][], total: number, checked: number, skipped: number, problem: Unavailable | null, seconds: number};
export type NodePhase = "forward" | "gradient" | "update" | "input" | "variable";
/** The first `count` of `total`, a byte for each value from `low` to `high`; channels are those of one sample. */
export type NodePictures = {of: "samples" | "channels" | "filters" | "units", total: number, count: number, height: number, width: number, channels: 1 | 3 | 4, scale: "grey" | "diverging" | "colour", low: number, high: number, pixels: Uint8Array};
/** See `app/playgrad/inspection/query.py`. */
export type NodeQuery = {query: string};
/** `name`: of the node as it is drawn; `output`: the number of one of its outputs. */
export type NodeQuestion = {name: string, output: number, part: "value" | "gradient", sample: BatchChoice};
/** How many of some nodes the model is right about. */
export type NodeShare = {right: number, all: number};
/** The class predicted for each node that is drawn, or −1, and its probability; `attention`: messages that training changes; `training`, `others`: of all nodes of the graph whose class is known. */
export type NodeTask = {shows: "nodes", version: number, seconds: number, data?: NodeData, predicted: Uint8Array, chances: Uint8Array | null, attention: EdgeMessages[], training: NodeShare, others: NodeShare};
export type NodeTime = {seconds: number, runs: number, device: string};
export type NodeTimeView = {measured: NodeTime | null, problem: Unavailable | null};
/** `outputs`: of the node; `samples`, `test_samples`: of the data sets, one of which can be chosen; `pictures`: null for values of another kind; `problem`: why there is no summary. */
export type NodeView = {outputs: number, samples: number | null, test_samples: number | null, summary: Summary | null, pictures: NodePictures | null, problem: Unavailable | null, seconds: number};
/** The form is that of the other samples, of which there is one. */
export type OneSample = {predicted: Uint8Array, chances: Uint8Array | null, losses: Uint8Array, shows: "sample", sample: SampleNumber, seconds: number, data: SampleData};
export type OneSampleQuestion = {number: number};
export type OneSampleView = NoSampleView | OneSample;
/** `nodes`: computed by the kernels; `kernels`: their WGSL. */
export type OpenedBench = {adapter: string, of_run: boolean, nodes: string[], kernels: string[]};
/** `members`: the nodes that were fused into it; `waits_for`: the number of operations that it waits for; `ready`: the operations in the queue when it was taken, by their places in the order of execution; `released`: the place of each that waited for it, with its count before and after. */
export type Operation = {name: string, op: string, device: string, members: string[], waits_for: number, ready: number[], released: [number, number, number][], inputs: TensorSight[], outputs: TensorSight[], dispatch: number | null, kernel: string};
/** For a flood: its first part, the number of characters left out, and its last part. */
export type Output = {text: string, left_out?: number, end?: string};
/** `x`: a list of the numbers of each input, such as a position of a game. */
export type OutputsQuestion = {x: number[][]};
/** The report of an asynchronous strategy; empty for others. */
export type ParallelReport = {updates?: Record<string, number>, staleness?: Record<string, number>, mean_staleness?: number, lost?: Record<string, string>, overlap?: string};
/** `tested`: not trained with. */
export type PictureData = {height: number, width: number, channels: 1 | 3, pixels: Uint8Array, labels: number[], tested: boolean, total: number};
/** The class predicted for each image, −1 for outputs that are NaN, and its probability. */
export type PictureTask = {shows: "images", version: number, seconds: number, data?: PictureData, predicted: number[], chances: number[] | null};
/** `pixels`: (count, height, width, channels) bytes, from 0 at `low` to 255 at `high`; in "diverging", 128 is 0; `note`: the parts that are not shown, in words. */
export type Pictures = {shows: "pictures", title: string, count: number, height: number, width: number, channels: 1 | 3 | 4, scale: "grey" | "diverging" | "colour", low: number, high: number, note: string, pixels: Uint8Array};
export type Placement = {headline: string, seconds: number, seconds_alone: number, bytes_moved: number, rows: PlacementRow[]};
export type PlacementRow = {scope: string, nodes: string[], device: string, reason: string};
/** `across`, `up`: from and to; `classes`: 0 for numbers. */
export type PlaneData = {side: number, across: [number, number], up: [number, number], scale: Scale, classes: number, train: TargetedPoints, test: TargetedPoints | null};
/** `outputs` (cells, outputs): over a grid of side × side cells, row by row from the top. */
export type PlaneTask = {shows: "plane", version: number, seconds: number, data?: PlaneData, outputs: Uint8Array, layers: UnitMaps[]};
export type Plot = {shows: "plot", title: string, style: "line" | "points", x_label: string, y_label: string, series: PlotSeries[]};
/** The contents of a plot of matplotlib. */
export type PlotAxes = {title: string, x_label: string, y_label: string, labels: string[], lines: number, images: number, points: number, shapes: number};
/** The numbers as float64, least byte first; `total`: the number of points, of which some are drawn. */
export type PlotSeries = {label: string, x: Uint8Array, y: Uint8Array, total: number};
/** `width`, `height`: in pixels of the page, of which the `png` has more. */
export type PlottedImage = {shows: "image", title: string, width: number, height: number, axes: PlotAxes[], png: Uint8Array};
/** `board`: 0 for an empty cell, 1 and 2 for stones, row by row; `turns`: whose move it was before each action and is now, 0 or 1; `placed`: the cell of the last stone; `changed`: the other cells that the last action has changed; `result`: 1 if the player who began has won, 0 for a draw, -1 if the other one has won. */
export type Position = {actions: number[], board: number[], turns: number[], placed: number | null, changed: number[], legal: number[], result: number | null};
/** `pixels`: from 0 to 1, row by row. */
export type PredictQuestion = {pixels: number[]};
export type Prediction = {probabilities: number[], label: number};
/** An error of a kind that Blocks can mend: `values`: the names and numbers in its sentence. */
export type Problem = {code: string, values: Record<string, string | number>};
/** `seconds`: of the fit, without pauses. */
export type Progress = {epoch: number, step: number, total_steps: number, points: ([number, number, number | null])[], steps_per_second: number, seconds: number, eta_seconds: number | null};
/** `size`: values for each sample. */
export type ProjectedLayer = {name: string, size: number};
/** `projected`: the number of projected samples; `rows`: the indices of the samples with finite values, and `points` (rows, dimensions) their coordinates; `explained`: shares of the variance. */
export type ProjectedSamples = {predicted: Uint8Array, chances: Uint8Array | null, losses: Uint8Array, version: number, seconds: number, data?: SampleData, shows: "points", layer: string, layers: ProjectedLayer[], projected: number, rows: Uint8Array, dimensions: number, points: Uint8Array, explained: number[]};
/** `known`: the version of the samples that the page has; `layer`: "" for the last hidden one; `dimensions`: of the space, 2 for a plane. */
export type ProjectionQuestion = {known: number, layer: string, dimensions: number};
export type ProjectionView = NoSampleView | ProjectedSamples;
export type PromptQuestion = {code: string};
export type PythonReason = "own" | "no_emitter" | "unsupported" | "operands";
export type RankedToken = {token: string, chance: number, rank: number};
/** A match of a player that learns against the best network so far. `step`: of the fit; `generation`, `games`: since the player's beginning; `elo`: its rating then. */
export type Rating = {step: number, generation: number, games: number, elo: number, is_best: boolean};
/** `why`: the rule that it breaks, in a sentence. */
export type RefusedAction = {action: number, why: string};
export type RestoreQuestion = {payload?: Uint8Array};
export type RestoredWeights = {names: string[]};
export type RowData = {truth: Uint8Array, tested: boolean, total: number};
/** `error`: the mean absolute error of the rows that are shown; `explained`: the explained part of their variance. */
export type RowTask = {shows: "rows", version: number, seconds: number, data?: RowData, predicted: Uint8Array, error: number, explained: number | null};
/** With the option `resume`, the last checkpoint is the payload. */
export type RunCommand = {source: string, options: RunOptions};
/** `device`: a kind, or "auto"; `devices`: logical devices of each kind; `lab`: the Lab's settings that apply to the strategy; `doctor`: trainings outside the Lab are watched for faults; `phrases`: texts that Python prints, in the language of the page; `resume`: fits continue where the checkpoint, the payload, was made; completed fits return at once, without events; `trial`: the run is a trial of the `pg.sweep` of another one. */
export type RunOptions = {device: string, paused: boolean, devices?: number, lab?: LabOptions, resume?: boolean, doctor?: boolean, phrases?: Record<string, string>, trial?: TrialOptions};
export type RunState = "idle" | "running" | "paused" | "stopped" | "done" | "error";
/** `prompt`: null for that from the data; `seconds`: no further token is begun after them. */
export type Sample = {prompt: string | null, temperature: number, seed: number, seconds: number};
/** `classes`: 0 for numbers; `numbers` (int32): of the samples in the data. The inputs have one of three forms, and the other two are null. */
export type SampleData = {tested: boolean | null, total: number, classes: number, numbers: Uint8Array, truth: Uint8Array, pictures: SamplePictures | null, rows: SampleRows | null, texts: string[] | null};
/** `number`: from 0; `count`: how many samples there are; `tested`: not trained with, or null if that is unknown, because the program has not trained the model. */
export type SampleNumber = {number: number, count: number, tested: boolean | null};
export type SamplePicture = {height: number, width: number, channels: 1 | 3, pixels: Uint8Array};
export type SamplePictures = {height: number, width: number, channels: 1 | 3, pixels: Uint8Array};
/** (samples, columns), the first of `all` values of each sample. */
export type SampleRows = {columns: number, all: number, values: Uint8Array};
/** `known`: the version of the samples that the page has. */
export type SamplesQuestion = {known: number};
export type SamplesView = NoSampleView | ManySamples;
export type Scale = "softmax" | "probabilities" | "scores" | "sigmoid" | "probability" | "margin" | "linear";
/** `prior`, `visits`, `q`: for each action, the mean result being 0 without visits; `value`: the expected result for the player to move, from -1 to 1; `line`: the actions that the search expects; `tree`: the most visited nodes of three levels, depth first. With 0 `simulations` it is the network's answer alone, and nothing has visits. A large network has time for fewer than were `asked` for. */
export type Search = {simulations: number, asked: number, prior: number[], visits: number[], q: number[], value: number, line: number[], tree: TreeNode[]};
/** A setting was changed while training, after `step` steps of the fit. */
export type SettingChange = {step: number, name: string, before: number, after: number};
export type ShownFigure = {figure: Figure};
/** `versions`: the names of all that will be tried, the original first; `tested`: whether the samples that they are compared on are test data; `total`: how many samples there are. */
export type ShrinkBegun = {versions: string[], tested: boolean, total: number};
/** `name`: null for the original, or for none. */
export type ShrinkChoice = {name: string | null};
export type ShrinkExportQuestion = {name: string, format: ShrunkFormat};
export type ShrinkFailure = {name: string, error: ErrorInfo};
/** `seconds`: the time to work for, if no version is ready before. */
export type ShrinkNextQuestion = {seconds: number};
/** `pending`: the names of the versions that are still to be made; `tuned`: the part of an epoch of fine-tuning that is done. */
export type ShrinkProgress = {point: ShrunkPoint | null, failure: ShrinkFailure | null, pending: string[], tuned: number};
export type ShrunkBytes = {raw: number, gzip: number};
export type ShrunkFormat = "safetensors" | "npz" | "onnx" | "tflite" | "c";
/** `form`: of its weights, such as "int8"; `reason`: why, if that needs a word; `signal_to_noise`: of its output against the original's, in decibels, null if it was not measured; `exact`: whether both are equal. */
export type ShrunkLayer = {name: string, kind: string, form: string, reason: string, before: ShrunkBytes, after: ShrunkBytes, multiply_adds: number, signal_to_noise: number | null, exact: boolean};
/** `raw`, `gzip`: bytes of the weights; `value`: of the metric, on `samples` samples; `epochs`: for which it was fine-tuned, and `untuned`: the value before that; `tunable`: whether it can be fine-tuned. */
export type ShrunkPoint = {name: string, raw: number, gzip: number, metric: "accuracy" | "loss", value: number, samples: number, epochs: number, untuned: number | null, tunable: boolean};
export type ShrunkQuestion = {name: string};
/** `formats`: of files that it can be exported to. */
export type ShrunkReport = {name: string, device: string, before: ShrunkTotals, after: ShrunkTotals, layers: ShrunkLayer[], formats: ShrunkFormat[]};
/** `multiply_adds`: for one sample; `seconds`: for one sample, on this device. */
export type ShrunkTotals = {raw: number, gzip: number, multiply_adds: number, seconds: number};
/** As the browser describes it; `limits`: its own, and the sizes of its subgroups. */
export type SpeedAdapter = {vendor: string, architecture: string, device: string, description: string, software: boolean, features: string[], limits: Record<string, number>};
/** `devices`: on which all is measured; `browser`, `processor`: their names, in words. */
export type SpeedQuestion = {devices: ("gpu" | "cpu")[], browser: string, processor: string, adapter: SpeedAdapter | null};
/** `known`: of the known card. */
export type SpeedRow = {device: string, work: string, title: string, state: "waiting" | "compiling" | "in a row" | "each read" | "done" | "failed", times: SpeedTimes, known: SpeedTimes, error: ErrorInfo | null};
/** `row`: the number of the one that is measured next; null at the end. */
export type SpeedState = {rows: SpeedRow[], row: number | null, card: KnownCard};
/** The table in Markdown, and everything as JSON; both in English. */
export type SpeedTexts = {markdown: string, json: string};
/** Milliseconds of a step in a row, and with each one read; 10⁹ operations a second. */
export type SpeedTimes = {once: number | null, each: number | null, gflops: number | null};
/** `built`: whether the program has built a model that it has not trained. */
export type Status = {state: RunState, built?: boolean};
/** The end of an epoch ends a step of "epoch". */
export type StepCommand = {unit: StepUnit};
/** The operations in the order of execution; `passes`: the passes of the compiler. */
export type StepOperations = {operations: Operation[], left_out: number, passes: CompilerPass[]};
export type StepUnit = "batch" | "epoch";
export type SuggestedEdit = {code: string, values: Record<string, string | number>, changes: LineChange[]};
/** Of an array. */
export type Summary = {shape: number[], dtype: string, count: number, statistics: Record<string, number | null>, histogram: Histogram | null, grid: ValueGrid};
/** (points, 2) and their classes or numbers, as float32; `total`: how many the data set has. */
export type TargetedPoints = {points: Uint8Array, targets: Uint8Array, total: number};
/** `known`: the version of the data that the page has; `sample`: of the text that the model writes, if its data is text. */
export type TaskQuestion = {known: number, sample?: Sample};
export type TaskView = NoTask | PlaneTask | PictureTask | ClassTask | RowTask | NodeTask | TextTask;
/** `statistics`: `min`, `max`, `mean` and `std`; none of a data set. */
export type TensorSight = {name: string, shape: number[], dtype: string, statistics: Record<string, number | null>};
export type TestSample = {test: number};
/** `prompt`: one from the data; `tokens`: of the vocabulary; `least`: of a prompt. */
export type TextData = {prompt: string, unit: "character" | "word", tokens: number, least: number};
/** The text that the model writes after the prompt, its predictions there, most probable first, and the problem with the prompt. */
export type TextTask = {shows: "text", version: number, seconds: number, data?: TextData, prompt: string, predicted: string, expected: Expected[], problem: string | null};
export type Timeline = {steps: number, seconds: number, bubble: number, communication: number, bytes_moved: number, devices: DeviceTime[]};
/** Milliseconds since the beginning of the step. */
export type TraceEvent = {name: string, device: string, start: number, end: number, kind: string, bytes: number};
export type TracedStep = {steps: number, timeline: Timeline, events: TraceEvent[], bubble_formula: number | null, memory: Record<string, number>, seconds: number};
export type Travel = {name: string | null, ratio: number | null};
/** `takes`: the places of the calls whose values it takes; `label`: its numbers. */
export type TreeCall = {depth: number, kind: number, takes: number[], label: string, result: boolean};
/** `calls`: of all samples. */
export type TreeKind = {title: string, calls: number};
/** A node of the search tree. `path`: the actions that lead there; `q`: the mean result for the player who makes the last of them, from -1 to 1. */
export type TreeNode = {path: number[], prior: number, visits: number, q: number};
/** `fold`: a name, or any other text for the first Fold. */
export type TreesQuestion = {fold: string, sample: number};
export type TreesView = NoTrees | JoinedTrees;
/** What a trial tells the sweep, as JSON: at a milestone, where it waits for a verdict, or at its end, with the weights of its model. */
export type TrialMessage = {message: string, is_last: boolean, weights?: Uint8Array};
/** A message of a trial, for the sweep; weights are the payload. */
export type TrialMessageCommand = {trial: number, message: string};
/** `settings`: as JSON; `milestones`: epochs after which the trial waits for a verdict. */
export type TrialOptions = {settings: string, milestones: number[], seed: number};
/** A trial of the program's `pg.sweep` is to be run beside it; `title`: its settings. */
export type TrialStart = {trial: number, title: string, options: TrialOptions};
/** The answer of the sweep to a trial. */
export type TrialVerdict = {trial: number, continues: boolean};
/** The answer of the sweep, for the trial. */
export type TrialVerdictCommand = {continues: boolean};
/** `kernels`: the variant in use, by kind; `wanted`: the GPU should be measured further. */
export type Tuning = {kernels: Record<string, string>, measured: boolean, wanted: boolean};
export type Unavailable = {code: string, values: Record<string, string | number>};
export type UncompiledReason = "waits" | "apart";
/** A unit that gives a multiple of its value. */
export type UnitEdit = {layer: string, unit: number, factor: number};
/** Pictures of the layer's first units, side × side bytes each; 128 is 0. */
export type UnitMaps = {name: string, units: number, side: number, maps: Uint8Array};
/** The loss and the metrics of some of the data. */
export type UnitsEffect = {samples: number, before: Record<string, number>, after: Record<string, number>};
/** `at`: index in the sample's values, row by row. */
export type ValueEdit = {at: number, value: number};
/** float32, least byte first, row by row; `rows` and `columns`: the numbers of the shown. */
export type ValueGrid = {values: Uint8Array, rows: number[], columns: number[], total_rows: number, total_columns: number};
/** As `WeightStatistics` and `WeightPicture` in `app/playgrad/inspection/weights.py`. */
export type WeightView = {name: string, shape: number[], mean: number, deviation: number, smallest: number, largest: number, norm: number, zeros: number, layout: "filters" | "matrix", rows: number, columns: number, height: number, width: number, values: Uint8Array, units: number[], total_units: number, inputs: number, total_inputs: number, norms: number[]};
export type Request = Command | (Question & {id: number});
export type Answer = Answers[keyof Answers];
type Replies = {
  [K in keyof Answers]: {kind: "reply", id: number, ok: true, question: K, answer: Answers[K]}
};
export type Reply =
  | {kind: "reply", id: number, ok: false, error: ErrorInfo}
  | Replies[keyof Answers];
export type Form = string | [string, ...any[]] | {[field: string]: Form};
export const FORMS: Record<string, Form>;
export const EVENTS: Record<string, Form>;
export const ANSWERS: Record<string, Form>;
