/**
 * Every kind of message that passes between the page, the Python worker and a device worker.
 *
 * Three roads, each with its own list:
 *   - `postMessage` from the page to a worker, and back (`PythonCommand`, `PythonEvent`,
 *     `DeviceCommand`, `DeviceEvent`);
 *   - the mailbox in shared memory, page → Python, which is read even while Python is busy
 *     (`Request`);
 *   - the message port from Python to a device worker (`DeviceCall`), answered through shared
 *     memory, because the Python worker sleeps until the answer is there.
 */

/** Page → Python worker. */
export const PythonCommand = Object.freeze({
  /** {memory: SharedMemory, ports: MessagePort[]}: boot; sent once. */
  START: "start",
  /** {files: string[]}: files of the server that the program will read; a hint. */
  EXPECT: "expect",
  /** {}: there is something in the mailbox; needed only while Python is idle. */
  POKE: "poke",
});

/** Python worker → page. */
export const PythonEvent = Object.freeze({
  /** {stage}: "python" or "library" is being started. */
  LOADING: "loading",
  READY: "ready",
  STATUS: "status",
  STDOUT: "stdout",
  STDERR: "stderr",
  ERROR: "error",
  FIT_BEGIN: "fit_begin",
  PROGRESS: "progress",
  EPOCH_END: "epoch_end",
  FIT_END: "fit_end",
  GRAPH: "graph",
  /** {strategies, schedules, collectives}: what the Lab has to offer; sent once, at the start. */
  LAB_CHOICES: "lab_choices",
  /** {timeline, events, bubble_formula, memory}: a step of a run in the Lab, as it was measured. */
  TRACE: "trace",
  REPLY: "reply",
  /** {message}: Python itself is broken or could not start; only a new worker helps. */
  CRASH: "crash",
});

/** Page → device worker. */
export const DeviceCommand = Object.freeze({
  /** {control, reply, port}: serve this Python worker; what an earlier one owned is destroyed. */
  CONNECT: "connect",
});

/** Device worker → page. */
export const DeviceEvent = Object.freeze({
  /** {available, info?, error?}: sent once after every connect. */
  DEVICE: "device",
  /** {message}: the GPU device is gone; the next run opens a new one. */
  LOST: "device_lost",
});

/** Page → Python, through the mailbox. Those with an `id` are answered by a `reply` event. */
export const Request = Object.freeze({
  RUN: "run",
  PAUSE: "pause",
  RESUME: "resume",
  STEP: "step",
  SET_LEARNING_RATE: "set_learning_rate",
  EXPORT: "export",
  IMPORT: "import",
  PREDICT: "predict",
  GRAPH: "graph",
  /** {}: trace the next step of a run in the Lab. */
  TRACE: "trace",
  RESET: "reset",
});

/** Python → device worker, on the port; each is answered by one frame in the reply ring. */
export const DeviceCall = Object.freeze({
  LIST: "list",
  OPEN: "open",
  CLOSE: "close",
  CREATE_BUFFER: "create_buffer",
  DESTROY_BUFFER: "destroy_buffer",
  LOAD: "load",
  UNLOAD: "unload",
  EXECUTE: "execute",
  STATS: "stats",
});
