import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { attempt } from "./data-table-form.js";
import { SplitFields, UseData } from "./data-use.js";
import { decodeImages } from "./image-files.js";
import { imagesSet } from "./images-set.js";
import { DataProblem } from "./problem.js";

/**
 * @import { Decoded, Format, ImageFile } from "./image-files.js"
 * @typedef {{name: string, images: ImageFile[], classes: string[], skipped: string[]}} ImagesDraft
 */

const SIDES = [16, 28, 32, 48, 64, 96, 128];
const THUMBNAILS = 24;

/** Images in folders: their size and colours. @param {{draft: ImagesDraft}} props */
export function ImagesForm({ draft: { name, images, classes, skipped } }) {
  const [format, setFormat] = useState(/** @type {Format} */ ({ side: 32, channels: 3 }));
  const [decoded, setDecoded] = useState(
    /** @type {{format: Format, images: Decoded} | null} */ (null),
  );
  const [done, setDone] = useState(0);
  const [tooLarge, setTooLarge] = useState("");
  const [choices, setChoices] = useState({ test: 0.2, seed: 0 });

  useEffect(() => {
    const work = new AbortController();
    setDecoded(null);
    setDone(0);
    setTooLarge("");
    decodeImages(images, format, setDone, work.signal).then(
      (result) => setDecoded({ format, images: result }),
      (failure) => failure instanceof DataProblem && setTooLarge(failure.message), // else, another format was chosen
    );
    return () => work.abort();
  }, [images, format]);
  const { value: set, problem } = useMemo(
    () =>
      decoded
        ? attempt(() => imagesSet(decoded.images, decoded.format, classes, choices))
        : { value: null, problem: "" },
    [decoded, choices],
  );
  const words = t().dataForms.images;
  const left = [...skipped, ...(decoded?.images.skipped ?? [])];
  return html`<section class="data-form" aria-label=${words.label(name)}>
    <h3>${name}</h3>
    <p class="hint">${words.size(images.length, classes.length)}</p>
    <div class="data-fields">
      <${FormatFields} format=${format} change=${setFormat} />
      <${SplitFields} test=${choices.test} seed=${choices.seed} change=${(/** @type {object} */ some) => setChoices({ ...choices, ...some })} />
    </div>
    ${
      !decoded &&
      !tooLarge &&
      html`<p class="hint" role="status">${words.reading(done + 1, images.length)}
      <progress max=${images.length} value=${done}></progress></p>`
    }
    ${decoded && html`<${Thumbnails} ...${{ pixels: decoded.images.pixels, labels: decoded.images.labels, format: decoded.format, classes }} />`}
    ${
      decoded &&
      left.length > 0 &&
      html`<details class="data-warning" data-testid="data-skipped" open=${left.length <= 5}>
      <summary>${words.leftOut(left.length)}</summary>
      <ul>${left.slice(0, 100).map((each) => html`<li key=${each}>${each}</li>`)}</ul></details>`
    }
    <${UseData} set=${set} problem=${tooLarge || problem} file=${name} />
  </section>`;
}

/** @param {{format: Format, change: (format: Format) => void, isFixed?: boolean}} props */
export function FormatFields({ format, change, isFixed }) {
  const words = t().dataForms.images;
  return html`
    <label class="data-field"><span>${words.side}</span>
      <select data-testid="data-side" value=${format.side} disabled=${isFixed} onChange=${(/** @type {any} */ event) => change({ ...format, side: Number(event.target.value) })}>
        ${SIDES.map((side) => html`<option key=${side} value=${side} selected=${side === format.side}>${side} × ${side}</option>`)}
      </select></label>
    <label class="data-field"><span>${words.colours}</span>
      <select data-testid="data-channels" value=${format.channels} disabled=${isFixed}
        onChange=${(/** @type {any} */ event) => change({ ...format, channels: event.target.value === "1" ? 1 : 3 })}>
        <option value="3" selected=${format.channels === 3}>${words.colour}</option>
        <option value="1" selected=${format.channels === 1}>${words.grey}</option>
      </select></label>`;
}

/** Some of the images, spread over all. @param {{pixels: Uint8Array, labels: number[], format: Format, classes: string[]}} props */
export function Thumbnails({ pixels, labels, format, classes }) {
  const shown = Math.min(THUMBNAILS, labels.length);
  const chosen = Array.from({ length: shown }, (_, at) => Math.floor((at * labels.length) / shown));
  return html`<ol class="data-thumbnails" data-testid="data-thumbnails">
    ${chosen.map((at) => html`<li key=${at}><${Thumbnail} ...${{ pixels, at, format }} /><span class="hint" title=${classes[labels[at]]}>${classes[labels[at]]}</span></li>`)}
  </ol>`;
}

/** @param {{pixels: Uint8Array, at: number, format: Format}} props */
function Thumbnail({ pixels, at, format: { side, channels } }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const image = new ImageData(side, side);
    const start = at * side * side * channels;
    for (let pixel = 0; pixel < side * side; pixel += 1) {
      for (let channel = 0; channel < 3; channel += 1) {
        image.data[4 * pixel + channel] =
          pixels[start + pixel * channels + (channels === 3 ? channel : 0)];
      }
      image.data[4 * pixel + 3] = 255;
    }
    canvas.current?.getContext("2d")?.putImageData(image, 0, 0);
  }, [pixels, at, side, channels]);
  return html`<canvas width=${side} height=${side} ref=${canvas} aria-hidden="true"></canvas>`;
}
