import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { FormatFields, Thumbnails } from "./data-images-form.js";
import { attempt } from "./data-table-form.js";
import { SplitFields, UseData } from "./data-use.js";
import { squareOf } from "./image-files.js";
import { imagesSet } from "./images-set.js";

/** @import { Format } from "./image-files.js" */

/** Milliseconds from frame to frame while a button is held. */
const PERIOD_MS = 120;
const MOST_FRAMES = 5000;
const MOST_CLASSES = 12;

/** Why the camera cannot be used, in words. @param {Error} failure */
function inWords({ name, message }) {
  const words = t().dataForms.camera;
  /** @type {Record<string, string>} */
  const known = {
    NotAllowedError: words.notAllowed,
    NotFoundError: words.none,
    NotReadableError: words.busy,
  };
  return known[name] ?? words.failed(message);
}

/** Frames of the camera, recorded by class. */
export function CameraForm() {
  const words = t().dataForms.camera;
  const video = useRef(/** @type {HTMLVideoElement | null} */ (null));
  const [stream, setStream] = useState(/** @type {MediaStream | null} */ (null));
  const [failure, setFailure] = useState("");
  const [format, setFormat] = useState(/** @type {Format} */ ({ side: 32, channels: 3 }));
  const [classes, setClasses] = useState(() => [1, 2].map(t().dataForms.camera.className));
  const [frames, setFrames] = useState(/** @type {{pixels: Uint8Array, label: number}[]} */ ([]));
  const [choices, setChoices] = useState({ test: 0.2, seed: 0 });

  useEffect(() => {
    if (video.current) video.current.srcObject = stream;
    return () => stream?.getTracks().forEach((track) => track.stop());
  }, [stream]);

  async function begin() {
    setFailure("");
    if (!navigator.mediaDevices) return setFailure(words.noAccess);
    try {
      setStream(
        await navigator.mediaDevices.getUserMedia({
          video: { width: 640, height: 480 },
          audio: false,
        }),
      );
    } catch (problem) {
      setFailure(inWords(/** @type {Error} */ (problem)));
    }
  }

  /** @param {number} label */
  function take(label) {
    const picture = video.current;
    if (!picture?.videoWidth) return;
    const pixels = squareOf(picture, picture.videoWidth, picture.videoHeight, format);
    setFrames((before) => (before.length < MOST_FRAMES ? [...before, { pixels, label }] : before));
  }

  const { pixels, labels } = useMemo(() => joined(frames), [frames]);
  const isReady = new Set(labels).size > 1;
  const { value: set, problem } = useMemo(
    () =>
      isReady
        ? attempt(() => imagesSet({ pixels, labels }, format, classes, choices))
        : { value: null, problem: "" },
    [pixels, labels, format, classes, choices],
  );
  const rename = (/** @type {number} */ label) => (/** @type {any} */ event) =>
    setClasses(
      classes.map((each, at) =>
        at === label ? event.target.value.trim() || words.className(label + 1) : each,
      ),
    );
  return html`<section class="data-form" aria-label=${words.title}>
    <h3>${words.title}</h3>
    <p class="hint">${words.hint}</p>
    <div role="alert">${failure && html`<p class="data-problem" data-testid="data-camera-problem">${failure}</p>`}</div>
    ${
      stream
        ? html`<video class="data-video" ref=${video} autoplay muted playsinline aria-label=${words.sees}></video>`
        : html`<button type="button" class="button primary" data-testid="data-camera-begin" onClick=${begin}>${words.begin}</button>`
    }
    <div class="data-fields"><${FormatFields} format=${format} change=${setFormat} isFixed=${frames.length > 0} /></div>
    <ul class="data-recorders">
      ${classes.map(
        (name, label) => html`<li key=${label}>
        <input class="data-name" value=${name} aria-label=${words.nameOf(label + 1)} onChange=${rename(label)} />
        <${HoldButton} isOff=${!stream} name=${name} act=${() => take(label)} />
        <span class="hint">${words.frames(labels.filter((each) => each === label).length)}</span>
        ${
          labels.includes(label) &&
          html`<button type="button" class="button quiet small" aria-label=${words.discardOf(name)}
          onClick=${() => setFrames(frames.filter((frame) => frame.label !== label))}>${words.discard}</button>`
        }
      </li>`,
      )}
    </ul>
    ${
      classes.length < MOST_CLASSES &&
      html`<button type="button" class="button small" data-testid="data-add-class"
      onClick=${() => setClasses([...classes, words.className(classes.length + 1)])}>${words.addClass}</button>`
    }
    ${frames.length > 0 && html`<${Thumbnails} ...${{ pixels, labels, format, classes }} />`}
    ${
      isReady &&
      html`
      <div class="data-fields"><${SplitFields} ...${choices} change=${(/** @type {object} */ some) => setChoices({ ...choices, ...some })} /></div>
      <${UseData} set=${set} problem=${problem} file="camera" />`
    }
  </section>`;
}

/** @param {{pixels: Uint8Array, label: number}[]} frames */
function joined(frames) {
  const size = frames[0]?.pixels.length ?? 0;
  const pixels = new Uint8Array(frames.length * size);
  frames.forEach((frame, at) => pixels.set(frame.pixels, at * size));
  return { pixels, labels: frames.map(({ label }) => label) };
}

/** A button that acts again and again while it is held, by pointer or by key. @param {{name: string, isOff: boolean, act: () => void}} props */
function HoldButton({ name, isOff, act }) {
  const [isHeld, setHeld] = useState(false);
  const acts = useRef(act);
  acts.current = act;
  useEffect(() => {
    if (!isHeld) return undefined;
    acts.current();
    const timer = setInterval(() => acts.current(), PERIOD_MS);
    return () => clearInterval(timer);
  }, [isHeld]);
  const isKey = (/** @type {KeyboardEvent} */ { key }) => key === " " || key === "Enter";
  return html`<button type="button" class="button" data-testid="data-record" disabled=${isOff} aria-pressed=${isHeld}
    aria-label=${t().dataForms.camera.record(name)}
    onPointerDown=${(/** @type {PointerEvent} */ event) => {
      /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
      setHeld(true);
    }}
    onPointerUp=${() => setHeld(false)} onPointerCancel=${() => setHeld(false)} onBlur=${() => setHeld(false)}
    onContextMenu=${(/** @type {Event} */ event) => event.preventDefault()}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => isKey(event) && setHeld(true)}
    onKeyUp=${(/** @type {KeyboardEvent} */ event) => isKey(event) && setHeld(false)}>${isHeld ? t().dataForms.camera.recording : t().dataForms.camera.hold}</button>`;
}
