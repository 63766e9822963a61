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
 *   `begin`: begin to start Python; sent by the document itself, before the page's modules have arrived.
 *   `start`: the last message outside `port`, on which all others travel. The
 *     worker holds `lock` until it ends; `ports` are spare ones for future device workers;
 *     `template` is from an earlier worker; `withoutImage` whether that
 *     started without an image of Python's memory; `dataBytes` is the size of the data sets that its program
 *     will probably read.
 *   `inherit`: the state that earlier Python workers leave behind; sent before the first request.
 *   `files`: more files of the server, in shared memory, by path.
 *   `prepare`: import packages, as the last program did; sent to a spare worker while nothing runs.
 *   `poke`: the mailbox has a request; needed only while Python is idle.
 *   `ports`: spare ports that replace used ones.
 * @typedef {(
 *   | {kind: "begin"}
 *   | {kind: "start", memory: SharedMemory, lock: string, port: MessagePort, ports: MessagePort[],
 *      template?: Template, withoutImage: boolean, dataBytes: number}
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
 *   `ready`: the versions of playgrad, Python and NumPy; `isRestored`: started from an image or a template; `isQuick`: the line is quick, or was not needed; `timings` in milliseconds, by phase.
 *   `template`: from which the next workers start quickly; not sent by workers that started from one.
 *   `tunings`: measurements of GPUs, to be stored and returned at the next start.
 *   `data_file`: see `DataRequest`.
 *   `crash`: Python could not start or is broken; only a new worker helps. `problem`: the message,
 *   if the page can say it in its language.
 * @typedef {(
 *   | {kind: "alive"}
 *   | Loading
 *   | {kind: "ready", version: string, python: string, numpy: string, isRestored: boolean, isQuick: boolean,
 *      timings: Record<string, number>}
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
 *   in English, with its kind and its values, for the page to say it in its language
 * @typedef {Sentence & {seconds: number, isMissing: boolean}} Delay
 *   why a file does not arrive; it is tried again after `seconds`; `isMissing`: the server does not have it
 * @typedef {{kind: "threads", ports: MessagePort[]}} ThreadsRequest
 *   Python worker → page: start workers that help with steps, one for each port, which is the first message that it gets
 * @typedef {{kind: "start", memory: WebAssembly.Memory, control: number, thread: number}} ThreadStart
 *   Python worker → thread: the first command; `memory`: Python's, which the page would keep for longer than Python;
 *   `control`: the address of their control words; `thread`: its number, from 1 on
 * @typedef {{kind: "module", number: number, module: WebAssembly.Module}} ThreadModule
 *   Python worker → thread: a module that will run; its number is that of the control words
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
 * Python → page, sent by Python's `emit`: events, and replies to questions. Page → Python, through the
 * mailbox: commands, whose effects are events, and questions, which are answered by a `reply` with the
 * same `id`. Their types are made of Python's records: see `app/playgrad/page/question.py`.
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
 *   `execute`: see `Runner.begin`. Answered after each step whose loss is read, so not in JSON: the
 *     numbers of an `ExecuteResult`, with blanks between them.
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
 *   stats: {buffers: number, bytes: number, peak_bytes: number, programs: number},
 * }} DeviceValues by call
 * @typedef {{call: keyof DeviceArguments | "serve", device: number, text: string,
 *            buffers: Uint8Array[]}} DeviceCall
 *   `device`: the worker's id of the open device; 0 for calls to the worker itself
 */

/**
 * The data that these messages carry:
 *
 * @typedef {{name: string, vendor: string, architecture: string, backend: string,
 *            system: string, is_software: boolean, has_quads: boolean, limits: Record<string, number>,
 *            features: string[]}} AdapterInfo
 *   as `AdapterInfo` in `app/playgrad/devices`, except for the driver, which browsers do not report
 * @typedef {Required<Omit<import("./python-messages.js").LabOptions, "strategy">>} LabDetails
 * @typedef {Omit<import("./python-messages.js").TracedStep, "seconds">} Trace
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
export * from "./python-messages.js";
