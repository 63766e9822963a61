import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { percent } from "../words/format.js";
import { t } from "../words/locale.js";

/**
 * @import { PictureData, SamplePictures, TaskView } from "../../engine/messages.js"
 * @typedef {Extract<TaskView, {shows: "images"}>} ImagesView
 */

/** Images with their classes and the predicted ones. @param {{view: ImagesView, names: string[]}} props `names`: of classes, as far as known */
export function TestStrip({ view, names }) {
  const data = /** @type {PictureData} */ (view.data);
  const { labels, tested, total } = data;
  const right = labels.filter((label, at) => label === view.predicted[at]).length;
  const [before, after] = t().task.images(labels.length, total, tested);
  return html`
    <div class="strip">
      <p class="hint">
        ${before}<b data-testid="strip-right">${right}</b>${after}
      </p>
      <ol class="strip-images" data-testid="test-strip" data-named=${names.length > 0 ? "" : undefined}>
        ${labels.map(
          (label, at) => html`
          <${Picture} key=${`${view.version} ${at}`} at=${at} data=${data} label=${label} names=${names}
            predicted=${view.predicted[at]} chance=${view.chances?.[at] ?? null} />
        `,
        )}
      </ol>
    </div>
  `;
}

/** @param {{at: number, data: PictureData, label: number, predicted: number, chance: number | null, names: string[]}} props */
function Picture({ at, data, label, predicted, chance, names }) {
  const isRight = predicted === label;
  const sure = chance === null || predicted < 0 ? "" : percent(chance, 0);
  const [is, said] = [
    names[label] ?? label,
    predicted < 0 ? t().inspectSamples.noClass : (names[predicted] ?? predicted),
  ];
  const words = t().task.image(is, said, sure, { isNamed: names[label] !== undefined, isRight });
  return html`
    <li class="strip-image" data-right=${isRight ? "" : undefined} data-label=${label} data-predicted=${predicted}
      title=${words}>
      <${SamplePicture} pictures=${data} at=${at} />
      <span class="strip-verdict" aria-hidden="true">
        <span class="strip-mark">${isRight ? "✓" : "✗"}</span> ${isRight ? is : html`<b>${said}</b> ≠ ${is}`}
      </span>
      <span class="visually-hidden">${words}</span>
    </li>
  `;
}

/** One of several pictures, which words beside it describe. @param {{pictures: SamplePictures, at: number}} props */
export function SamplePicture({ pictures, at }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(imageOf(pictures, at), 0, 0);
  }, [pictures, at]);
  return html`<canvas width=${pictures.width} height=${pictures.height} ref=${canvas} aria-hidden="true"></canvas>`;
}

/** @param {SamplePictures} pictures @param {number} at */
function imageOf({ width, height, channels, pixels }, at) {
  const image = new ImageData(width, height);
  const first = at * width * height * channels;
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      const from = first + pixel * channels + (channels === 3 ? channel : 0);
      image.data[4 * pixel + channel] = pixels[from];
    }
    image.data[4 * pixel + 3] = 255;
  }
  return image;
}
