/**
 * The types that the page's modules share, in addition to those of the messages in
 * `../engine/messages.js`. Types only; nothing runs here.
 *
 * @import * as M from "../engine/messages.js"
 *
 * @typedef {{known: boolean, info: M.AdapterInfo | null, problem: string | null}} GpuState
 *   `known`: the device worker has looked for a GPU
 *
 * @typedef {{epoch: number, step: number, loss: number | null, accuracy: number | null,
 *            testLoss: number | null, testAccuracy: number | null}} EpochRow
 *
 * @typedef {EpochRow & {stepsPerSecond: number | null, seconds: number, eta: number | null}} Progress
 *
 * @typedef {{id: string, title: string, description: string, source: string}} Example
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
 * @typedef {{id: number, text: string, stream: "stdout" | "stderr" | "note"}} ConsoleLine
 */
export {};
