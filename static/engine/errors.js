/** Errors that a device worker sends to Python, where they become typed exceptions. */

/** @typedef {"KernelError" | "OutOfMemoryError" | "DeviceLostError" | "DeviceError"} ErrorType */

export class EngineError extends Error {
  /**
   * @param {ErrorType} type name of the class in playgrad.errors
   * @param {string} message
   * @param {string} [op] name of the node
   */
  constructor(type, message, op) {
    super(message);
    this.type = type;
    this.op = op;
  }
}

/** @param {GPUError} error @param {string} where @param {string} [op] */
export function fromGpuError(error, where, op) {
  if (error instanceof GPUOutOfMemoryError) {
    return new EngineError("OutOfMemoryError", `the GPU has no room for ${where}`, op);
  }
  return new EngineError("KernelError", `${where}: ${error.message.trim()}`, op);
}

/**
 * Run GPU work and collect its asynchronous errors.
 * @template T
 * @param {GPUDevice} device
 * @param {() => T} work synchronous, so that no other work enters the same error scopes
 * @returns {{value: T, error: Promise<GPUError | null>}} `error` is the first one, if any
 */
export function guarded(device, work) {
  device.pushErrorScope("internal");
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  const pop = () => Promise.all([1, 2, 3].map(() => device.popErrorScope()));
  try {
    const value = work();
    // A lost device may refuse to pop; `device.lost` reports the loss.
    const error = pop().then(
      (errors) => errors.find((each) => each !== null) ?? null,
      () => null,
    );
    return { value, error };
  } catch (thrown) {
    pop().catch(() => {});
    throw thrown;
  }
}
