/** The failures of one GPUDevice: uncaptured errors, refused work, and its loss. */

import { EngineError, fromGpuError } from "./errors.js";

/** A promise may reject because the device is lost, before the loss itself is reported. */
const LOSS_REPORT_MS = 200;

export class DeviceFailures {
  /** Resolves with a message when the device is lost, by accident or by `destroy`. */
  lost;
  /** @type {Set<(reason: EngineError) => void>} rejects the promises that wait for the device */
  #waiting = new Set();
  /** @type {EngineError | undefined} not thrown yet, or the loss */
  #failure;

  /** @param {GPUDevice} device */
  constructor(device) {
    this.lost = device.lost.then(({ message, reason }) => this.#lose(message.trim() || reason));
    device.addEventListener("uncapturederror", (event) => {
      this.#failure ??= fromGpuError(event.error, "execute");
    });
  }

  /** Throw the pending failure: a loss every time, any other failure once. @throws {EngineError} */
  check() {
    const failure = this.#failure;
    if (failure && failure.type !== "DeviceLostError") this.#failure = undefined;
    if (failure) throw failure;
  }

  /**
   * Wait for work of the device, or for its loss: promises of a lost device may never settle.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   * @throws {EngineError} DeviceLostError
   */
  async wait(work) {
    /** @type {(reason: EngineError) => void} */
    let reject = () => {};
    // Not a race with `lost`: each race would add a callback to that one promise for good.
    const first = new Promise((resolve, fail) => {
      reject = fail;
      work.then(resolve, fail);
    });
    this.#waiting.add(reject);
    try {
      return /** @type {T} */ (await first);
    } catch (problem) {
      if (problem instanceof EngineError) throw problem;
      await Promise.race([this.lost, new Promise((wake) => setTimeout(wake, LOSS_REPORT_MS))]);
      this.check();
      throw problem;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /**
   * Wait for the errors of guarded work, and throw the first.
   * @param {Promise<GPUError | null>} error
   * @param {string} work named in the message
   * @throws {EngineError}
   */
  async throwIfRefused(error, work) {
    const refusal = await this.wait(error);
    this.check();
    if (refusal) throw fromGpuError(refusal, work);
  }

  /** @param {string} reason */
  #lose(reason) {
    const failure = new EngineError("DeviceLostError", `the GPU device was lost: ${reason}`);
    this.#failure = failure;
    for (const reject of this.#waiting) reject(failure);
    return failure.message;
  }
}
