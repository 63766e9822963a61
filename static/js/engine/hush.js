/** The silence of a Python worker that still belongs to the run before. */

/** @import { InterpreterEvent } from "../../engine/interpreter.js" */

/**
 * Why the worker is not heard:
 *   `waiting`: the next run waits for a worker of its own;
 *   `stopped`: that run was stopped before it began, and the worker told to forget the run before;
 *   `reset`: the page has asked it to forget that run;
 *   `reused`: the next run is in its mailbox.
 * @typedef {"waiting" | "stopped" | "reset" | "reused"} Reason
 */

/** Events that concern no run, or answer a question. @type {ReadonlySet<string>} */
const ALWAYS_HEARD = new Set([
  "device_worker",
  "reply",
  "data_file",
  "template",
  "tunings",
  "tuning",
]);

/** The state with which the worker reports that it has left the run before. @type {Record<Reason, string>} */
const END = { waiting: "", stopped: "idle", reset: "idle", reused: "running" };

export class Hush {
  /** Null while the worker is heard. @type {Reason | null} */
  reason = null;

  /** Whether the worker has left the page no run: its end concerns nobody. */
  get isAbandoned() {
    return this.reason === "waiting" || this.reason === "stopped";
  }

  /** Whether an event is to be dropped. The last one of the silence ends it. @param {InterpreterEvent} event */
  drops(event) {
    const { reason } = this;
    if (!reason || ALWAYS_HEARD.has(event.kind)) return false;
    if (event.kind === "crash") return this.isAbandoned;
    if (event.kind !== "status" || event.state !== END[reason]) return true;
    this.reason = null;
    return reason === "stopped";
  }
}
