import { CHOICES, kindOf } from "../../engine/kinds.js";
import { html } from "../../vendor/preact.js";
import { lookForGpu } from "../state/actions.js";
import { whyChosen } from "../engine/chosen-device.js";
import { gpuProblem } from "../engine/gpu-problem.js";
import { computedNodes, lookAtComputedNodes } from "../engine/computed-nodes.js";
import { hasSimd, stepThreads } from "../engine/simd.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** Whether NumPy alone trains, as the program asked for. */
function isReference() {
  const fit = store.active.value ? store.fit.value : null;
  return fit !== null && kindOf(fit.device)?.isOffered === false;
}

/** What computes without a GPU: in brief, for the badge, and in full. */
function processor() {
  if (!hasSimd || isReference()) return { text: "CPU (NumPy)", name: "CPU (NumPy)" };
  const { threads, inBrief } = t().devices;
  return stepThreads > 1
    ? { text: inBrief(stepThreads), name: threads(stepThreads) }
    : { text: "CPU", name: "CPU (SIMD)" };
}

/**
 * @typedef {{kind: "gpu"|"software"|"cpu"|"unknown", text: string, name?: string, remark: string}} Badge
 *   `name`: in full, where the text is shorter
 */

/** The processor that trains, or that the next run would train on, and the precision of the last. @returns {Badge} */
function choose() {
  const badge = chooseDevice();
  if (store.fit.value?.precision !== "mixed") return badge;
  const remarks = [badge.remark, t().devices.mixed].filter(Boolean);
  return { ...badge, remark: remarks.join(", ") };
}

/** @returns {Badge} */
function chooseDevice() {
  const { known, info, problem } = store.gpu.value;
  const words = t().devices;
  const fit = store.active.value ? store.fit.value : null;
  const avoids = store.avoidsSoftware.value;
  const onCpu = fit
    ? kindOf(fit.device)?.onCores
    : avoids || kindOf(store.deviceChoice.value)?.onCores;
  if (onCpu && (info || fit))
    return {
      kind: "cpu",
      ...processor(),
      remark: problem ? words.noWebGpu : avoids ? words.noHardware : "",
    };
  if (!known) return { kind: "unknown", text: words.looking, remark: "" };
  if (!info)
    return { kind: "cpu", ...processor(), remark: canTryAgain() ? words.noGpu : words.noWebGpu };
  return info.is_software
    ? { kind: "software", text: info.name, remark: words.software }
    : { kind: "gpu", text: info.name, remark: "" };
}

/** @param {Badge} badge @returns {string} the details of the processor, one per line */
function details({ kind, name }) {
  const { info, problem } = store.gpu.value;
  const words = t().devices;
  const lines = name ? [name] : [];
  if (info) {
    lines.push(words.adapter(info.name));
    if (info.vendor) lines.push(words.vendor(info.vendor, info.architecture));
    if (info.is_software) lines.push(words.isSoftware);
    const buffer = info.limits?.maxStorageBufferBindingSize;
    if (buffer) lines.push(words.buffer(Math.round(buffer / 2 ** 20)));
    const tuning = store.tuning.value;
    if (tuning)
      lines.push((tuning.measured ? words.measured : words.notMeasured)(described(tuning.kernels)));
  } else if (problem) {
    lines.push(words.why(gpuProblem()), words.instead);
  }
  if (kind === "cpu" && hasSimd && !isReference()) lines.push(words.simd);
  const counted = kind === "cpu" && countOfCompiled();
  if (counted) lines.push(counted);
  const reason = whyChosen();
  if (reason) lines.push(words.chosen(reason));
  const { playgrad, python, numpy } = store.versions.value;
  if (python) lines.push(`playgrad ${playgrad}, Python ${python}, NumPy ${numpy}`);
  return lines.join("\n");
}

/** How many operations of the program are compiled, in a sentence; empty where it has not been asked. */
function countOfCompiled() {
  const computed = computedNodes.value;
  const words = t().devices;
  if (!computed) return "";
  if (computed.problem) return words.notCompiled[computed.problem];
  return computed.operations
    ? words.compiledOperations(computed.compiledOperations, computed.operations)
    : "";
}

/** @param {Record<string, string>} kernels */
function described(kernels) {
  return Object.entries(kernels)
    .map(([kind, variant]) => `${kind} ${variant}`)
    .join(", ");
}

/** Whether a GPU may have come back: the browser has WebGPU, but offered none when it was asked. */
const canTryAgain = () =>
  store.gpu.value.known &&
  !store.gpu.value.info &&
  !store.active.value &&
  "gpu" in navigator &&
  Boolean(navigator.gpu);

/** Whether the browser has been asked for a GPU in vain. */
const hasNoGpu = () => store.gpu.value.known && !store.gpu.value.info;

/** One chip: the processor, and the choice of the device. */
export function DeviceChip() {
  const badge = choose();
  const { kind, text, name = text, remark } = badge;
  const about = details(badge);
  const words = t().devices;
  return html`
    <span class="chip" data-kind=${kind}>
      <span class="badge" data-testid="backend-badge" tabindex="0" role="note"
        onPointerEnter=${lookAtComputedNodes} onFocus=${lookAtComputedNodes}
        aria-label=${words.runsOn(name, remark)} aria-description=${about} title=${about}>
        <span class="badge-light" aria-hidden="true"></span>
        <span class="badge-text">${text}</span>
        ${remark && html`<span class="badge-remark">${remark}</span>`}
      </span>
      <select aria-label=${words.device} title=${words.about} data-testid="device-select"
        value=${store.deviceChoice.value}
        onChange=${(/** @type {any} */ event) => (store.deviceChoice.value = event.target.value)}>
        ${CHOICES.map((name) => html`<${Option} key=${name} name=${name} />`)}
      </select>
    </span>
    ${!isPhone.value && html`<${GpuAgain} />`}
  `;
}

/** A device that can be chosen. @param {{name: string}} props "auto", or of a kind */
function Option({ name }) {
  const words = t().devices;
  /** @type {Record<string, string>} */
  const titles = words.choices;
  const isMissing = Boolean(kindOf(name)?.isListed) && hasNoGpu();
  const title = isMissing ? words.noGpuFound : (titles[name] ?? kindOf(name)?.title);
  return html`<option value=${name} disabled=${isMissing && !canTryAgain()}>${title}</option>`;
}

/**
 * Looks for a GPU again, where one may have come back.
 * @param {{after?: () => void}} props `after`: called once it is pressed
 */
export function GpuAgain({ after }) {
  if (!canTryAgain()) return null;
  const look = () => {
    lookForGpu();
    after?.();
  };
  return html`<button type="button" class="button small gpu-again" data-testid="gpu-again" title=${details(choose())} onClick=${look}>${t().devices.tryAgain}</button>`;
}
