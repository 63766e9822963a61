/**
 * The shapes that the page's modules hand each other. Types only; nothing runs here.
 *
 * @typedef {{type: string, message: string, line: number | null, op: string | null,
 *            traceback?: string}} ErrorInfo
 *
 * @typedef {{name: string, vendor: string, architecture: string, is_software: boolean,
 *            limits: Record<string, number>}} AdapterInfo
 *
 * @typedef {{known: boolean, info: AdapterInfo | null, problem: string | null}} GpuState
 *   `known` turns true when the device worker has looked
 *
 * @typedef {{kernels: Record<string, string>, measured: boolean, wanted: boolean}} Tuning
 *   `kernels`: the variant of each kind; `wanted`: whether the GPU is to be measured further
 *
 * @typedef {{epochs: number, steps_per_epoch: number, total_steps: number, batch_size: number,
 *            device: string, adapter: string | null, parameters: number}} Fit
 *
 * @typedef {{epoch: number, step: number, loss: number | null, accuracy: number | null,
 *            testLoss: number | null, testAccuracy: number | null,
 *            stepsPerSecond: number | null, seconds: number, eta: number | null}} Progress
 *
 * @typedef {{epoch: number, step: number, loss: number | null, accuracy: number | null,
 *            testLoss: number | null, testAccuracy: number | null}} EpochRow
 *
 * @typedef {{id: string, title: string, description: string, source: string}} Example
 *
 * @typedef {"forward" | "gradient" | "update" | "input" | "variable"} NodePhase
 * @typedef {{name: string, op: string, scope: string, phase: NodePhase, device: string | null,
 *            shape: (number | null)[] | null, dtype: string | null, line: number | null,
 *            attrs?: Record<string, string>}} GraphNode
 * @typedef {{from: string, to: string, output: number, control: boolean}} GraphEdge
 * @typedef {{name: string, nodes: GraphNode[], edges: GraphEdge[]}} Graph
 *
 * @typedef {"devices"|"micro_batches"|"schedule"|"chunks"|"collective"|"staleness"|"every"|"delays"
 *           |"steps"} LabDetail
 * @typedef {{name: string, title: string, about: string, uses?: LabDetail[]}} LabChoice
 *   `uses`: the details that say something with it
 * @typedef {{strategies: LabChoice[], schedules: LabChoice[], collectives: LabChoice[],
 *            details: LabChoice[]}} LabChoices `details`: the numbers, and what they mean
 * @typedef {{strategy: string, devices: number, micro_batches: number, schedule: string,
 *            chunks: number, collective: string, staleness: number | null, every: number,
 *            delays: number[], steps: number}} LabSettings
 *   `staleness`: null for any; `delays`: milliseconds, by device; `steps`: 0 for as many as the
 *   program says
 * @typedef {{name: string, device: string, start: number, end: number, kind: string,
 *            bytes: number}} TraceEvent milliseconds from the beginning of the step
 * @typedef {{device: string, kinds: Record<string, number>, idle: number, sent: number,
 *            received: number}} DeviceTime seconds and bytes
 * @typedef {{seconds: number, bubble: number, communication: number, bytes_moved: number,
 *            devices: DeviceTime[]}} Timeline
 * @typedef {{steps: number, timeline: Timeline, events: TraceEvent[], bubble_formula: number | null,
 *            memory: Record<string, number>}} Trace `steps`: how many were traced together
 * @typedef {{updates?: Record<string, number>, mean_staleness?: number,
 *            lost?: Record<string, string>}} ParallelReport what a strategy has to tell of a run
 * @typedef {{headline: string, seconds: number, seconds_alone: number, bytes_moved: number,
 *            rows: {scope: string, nodes: string[], device: string, reason: string}[]}} Placement
 * @typedef {{id: number, colour: number, title: string, isSingle: boolean, devices: number, state: string,
 *            program: string, example: string, device: string | null, isHeldUp: boolean,
 *            msPerStep: number | null, loss: number | null, steps: number[], losses: (number | null)[],
 *            trace: Trace | null, report: ParallelReport}} LabRun
 *   `program`: its code; `example`: its name; `device`: "cpu" or "gpu"; `steps` and `losses`: its curve, once it has ended
 *
 * @typedef {{id: number, text: string, stream: "stdout" | "stderr" | "note"}} ConsoleLine
 */
export {};
