/**
 * Every kind of message that passes between the page, the Python worker and a device worker.
 *
 * Three roads, each with its own list:
 *   - `postMessage` from the page to a worker, and back (`PythonCommand`, `PythonEvent`,
 *     `DeviceCommand`, `DeviceEvent`);
 *   - the mailbox in shared memory, page → Python, which is read even while Python is busy
 *     (`Request`);
 *   - a message port from Python to each device worker (`DeviceCall`), answered through shared
 *     memory, because the Python worker sleeps until the answer is there.
 */

/** Page → Python worker. */
export const PythonCommand = Object.freeze({
  /** {memory: SharedMemory, ports: MessagePort[], tunings: string}: boot; sent once. The ports are
   * spare ones, for device workers to come; `tunings` is what `PythonEvent.TUNINGS` said last. */
  START: "start",
  /** {files: string[]}: files of the server that the program will read; a hint. */
  EXPECT: "expect",
  /** {}: there is something in the mailbox; needed only while Python is idle. */
  POKE: "poke",
  /** {ports}: spare ports for device workers, for those that were used up. */
  PORTS: "ports",
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
  /** {title, devices, held_up}: a run in the Lab begins to train, and with which strategy. */
  LAB_FIT: "lab_fit",
  /** {timeline, events, bubble_formula, memory}: a step of a run in the Lab, as it was measured. */
  TRACE: "trace",
  /** {kernels, measured, wanted}: the variant of each kind of kernel that the GPU runs, whether by
   * measurement, and whether to ask for more of it; the answer to `Request.TUNE`. */
  TUNING: "tuning",
  /** {text}: what was measured of GPUs, to be kept and handed to Python at its next start. */
  TUNINGS: "tunings",
  REPLY: "reply",
  /** {message}: Python itself is broken or could not start; only a new worker helps. */
  CRASH: "crash",
});

/** Page → device worker. */
export const DeviceCommand = Object.freeze({
  /** {}: look whether there is a GPU, and answer with `DeviceEvent.DEVICE`. */
  LOOK: "look",
  /** {device, lock, control, reply, port}: serve Python's calls on the port as `device`, holding
   * `lock` for as long as the worker lives; sent once. */
  CONNECT: "connect",
});

/** Device worker → page. */
export const DeviceEvent = Object.freeze({
  /** {available, info?, error?}: the answer to `LOOK`. */
  DEVICE: "device",
  /** {device, state, message?}: "starting" (also what Python's worker says when it wants one),
   * "ready" to be called, or "lost", worker or GPU; the next run starts it anew. */
  WORKER: "device_worker",
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
  PLACEMENT: "placement",
  GRAPH: "graph",
  /** {}: trace the next step of a run in the Lab. */
  TRACE: "trace",
  RESET: "reset",
  /** {}: measure a little of the GPU, if nobody has; takes a moment. */
  TUNE: "tune",
});

/** Python → device worker, on the port; each is answered by one frame in the reply ring. */
export const DeviceCall = Object.freeze({
  LIST: "list",
  OPEN: "open",
  CLOSE: "close",
  CREATE_BUFFER: "create_buffer",
  DESTROY_BUFFER: "destroy_buffer",
  /** {kernels}: a plan with them will be loaded soon; answered at once. */
  EXPECT: "expect",
  LOAD: "load",
  UNLOAD: "unload",
  EXECUTE: "execute",
  STATS: "stats",
  /** To a processor's worker, whatever it is asked: the text says it. */
  SERVE: "serve",
});
