/**
 * The types that the page's modules share, in addition to the types of messages in
 * `../../engine/messages.js`. Types only; nothing runs here.
 *
 * @import * as M from "../../engine/messages.js"
 *
 * @typedef {{known: boolean, info: M.AdapterInfo | null, problem: string | null, isAsked: boolean,
 *            reason?: import("../../engine/gpu-reasons.js").GpuReason | null}} GpuState
 *   `known`: the device worker has looked for a GPU; `problem`: a part of a sentence, in English;
 *   `reason`: the same for other languages, if it is known; `isAsked`: the visitor wants to know
 *
 * @typedef {"python" | "data" | "examples"} Loaded the parts that are loaded after the page has started
 *
 * @typedef {{epoch: number, step: number, loss: number | null, accuracy: number | null,
 *            testLoss: number | null, testAccuracy: number | null}} EpochRow
 *
 * @typedef {EpochRow & {stepsPerSecond: number | null, seconds: number, eta: number | null}} Progress
 *
 * @typedef {{id: string, title: string, description: string, source: string, seconds?: number, versions?: string[]}} Example
 *   `source`: in the language of the page; `seconds`: that it takes on one core of a processor, for an example of the
 *   server; `versions`: its source in English, and in the other languages in which the page has shown it
 *
 * @typedef {{strategy: string} & M.LabDetails} LabSettings
 *
 * @typedef {{id: number, colour: number, title: string, isSingle: boolean, devices: number, state: string,
 *            program: string, example: string, device: string | null, isHeldUp: boolean,
 *            msPerStep: number | null, loss: number | null, steps: number[], losses: (number | null)[],
 *            trace: M.Trace | null, report: M.ParallelReport}} LabRun
 *   `program`: its code; `example`: its name; `device`: "cpu" or "gpu"; `steps` and `losses`: its
 *   curve, once it has ended
 *
 * @typedef {{id: number, text: string, stream: "stdout" | "stderr" | "note" | "input",
 *            figure?: M.Figure}} ConsoleLine
 *   `figure`: in place of `text`, which says what it shows; "input": typed at the prompt
 *
 * @typedef {{exampleId: string, source: string, began: number}} Program
 *   The program of a run; `began` tells runs apart
 *
 * @typedef {{bytes: Uint8Array, step: number, totalSteps: number, epoch: number, epochs: number,
 *            parameters: number, finished: boolean, at: number, program: Program,
 *            options: {devices?: number, lab?: M.LabOptions}}} Kept
 *   A checkpoint, and the program and options of the run that it belongs to; `at`: milliseconds
 *   since 1970, as all times of sessions
 *
 * @typedef {{bytes: Uint8Array, step: number}} Checkpoint on the curve that is shown
 * @typedef {{began: number, number: number, step: number, from: Program, hasBegun: boolean}} Branch
 *   A run that continues from a checkpoint of another. `began`: tells it apart; `number`: of the other
 *   in the table of runs, 0 if it is not there; `from`: the other's program; `hasBegun`: whether it
 *   has taken the checkpoint, so that the curve is its own
 *
 * @typedef {{id: string, version: number, created: number, saved: number, touched: boolean, name?: string,
 *            exampleId: string, title: string, edited: boolean, state: string, step: number,
 *            totalSteps: number}} SessionSummary
 *   `touched`: the visitor has changed code, run a program or given it a name; `name`: of the project,
 *   empty or missing for none; `title`: of the open example
 *
 * @typedef {{what: "code" | "weights" | "work" | "everything", text: string}} StorageProblem
 */
export {};
