/** The controls of each kind of input. Each returns its element, and calls `onInput` with values. */

import { PICTURE_TYPES } from "../js/pictures/picture-input.js";
import { drawingBoard } from "./drawing-board.js";
import { button, element } from "./elements.js";
import { filePixels, imageOf, show, valuesOf } from "./pictures.js";
import { zeros } from "./tensors.js";
import { exactText, float32Text, words } from "./words.js";

/** @import { Data } from "./tensors.js" */
/**
 * @typedef {(data: Data | null, problem?: string) => void} OnInput null where there is no input yet
 * @typedef {{node: HTMLElement, set: (data: Data) => void}} Control `set` shows a sample
 */

/** @param {any} input @param {ArrayLike<number>} values @returns {Data} */
export function arrayOf(input, values) {
  const data = zeros(input);
  for (let i = 0; i < data.length; i += 1) data[i] = values[i];
  return data;
}

/**
 * The same for values that somebody entered, none of which may be changed by the dtype: 300 is not 44.
 * @param {any} input @param {ArrayLike<number>} values @returns {Data} @throws {RangeError}
 */
export function enteredArray(input, values) {
  const data = arrayOf(input, values);
  if (!input.dtype.startsWith("float"))
    data.forEach((value, i) => {
      if (value !== Number(values[i]))
        throw new RangeError(words.otherKind(values[i], input.dtype));
    });
  return data;
}

/** The sentence for a picture that was not opened. @param {unknown} failure of `picturePixels` */
function refusal(failure) {
  if (failure instanceof RangeError) return words.tooLarge;
  return failure instanceof TypeError ? words.otherFormat : words.unreadable;
}

/** A board for grey pictures, files for all. @param {any} input @param {OnInput} onInput @returns {Control} */
export function pictureControl(input, onInput) {
  const { low, high } = input;
  const preview = element("canvas", { className: "preview", "aria-hidden": "true" });
  const problem = element("p", { className: "problem", role: "alert" });

  /** @param {Float32Array | null} pixels from 0 to 1 */
  function accept(pixels) {
    problem.textContent = "";
    preview.hidden = pixels === null;
    if (pixels === null) return onInput(null);
    show(preview, pixels, input, 0, 1);
    onInput(arrayOf(input, valuesOf(pixels, input)));
  }

  const board = input.channels === 1 ? drawingBoard(input, accept) : null;
  const file = element("input", {
    type: "file",
    accept: PICTURE_TYPES.join(),
    className: "hidden-file",
    data: "picture-file",
  });
  file.onchange = async () => {
    const [picture] = file.files ?? [];
    if (!picture) return;
    try {
      accept(await filePixels(picture, input));
      board?.wipe();
    } catch (failure) {
      problem.textContent = refusal(failure)(picture.name);
    }
    file.value = "";
  };
  const label = element("label", { className: "button" }, words.openPicture, file);
  preview.hidden = true;
  const foot = element(
    "div",
    { className: "foot" },
    preview,
    ...(board ? [board.clear] : []),
    label,
  );
  return {
    node: element("div", {}, ...(board ? [board.node] : []), foot, problem),
    set(data) {
      board?.wipe();
      preview.hidden = false;
      show(preview, data, input, low, high);
      onInput(data);
    },
  };
}

/** The largest part of a float32 that rounding changes. */
const ROUNDING = 2 ** -24;

/**
 * A field for each column, with its values before they are normalized. The network gets a sample's own values,
 * except for the fields that were changed since.
 * @param {any} input @param {OnInput} onInput @returns {Control}
 */
export function rowControl(input, onInput) {
  const { mean, deviation } = input;
  const scale = (/** @type {number} */ i) => deviation[i] ?? 1;
  const shift = (/** @type {number} */ i) => mean[i] ?? 0;
  /** @type {string[]} */
  const columns = Array.from(
    { length: input.shape[1] },
    (_, i) => input.columns[i] ?? words.column(i + 1),
  );
  const fields = columns.map((_, i) =>
    element("input", { type: "number", step: "any", value: "0", data: `field-${i}` }),
  );
  const normalized = (/** @type {number} */ value, /** @type {number} */ i) =>
    (value - shift(i)) / scale(i);
  const values = columns.map((_, i) => normalized(0, i));
  for (const [i, field] of fields.entries()) {
    field.oninput = () => {
      values[i] = normalized(field.valueAsNumber, i);
      onInput(values.some(Number.isNaN) ? null : arrayOf(input, values));
    };
  }
  /** A value as it was before it was normalized in float32. @param {number} value @param {number} i */
  const textOf = (value, i) => {
    const [part, original] = [value * scale(i), value * scale(i) + shift(i)];
    const lost = 2 * ROUNDING * Math.max(...[part, original].map(Math.abs));
    return exactText(original, (other) => Math.abs(other - original) <= lost);
  };
  const node = element(
    "div",
    { className: "fields" },
    ...columns.map((column, i) => element("label", {}, column, fields[i])),
  );
  return {
    node,
    set(data) {
      fields.forEach((field, i) => {
        values[i] = data[i];
        field.value = textOf(data[i], i);
      });
      onInput(data);
    },
  };
}

/** Numbers in a text field. @param {any} input @param {OnInput} onInput @returns {Control} */
export function numbersControl(input, onInput) {
  const data = zeros(input);
  const shape = input.shape.slice(1);
  const text = element("textarea", { rows: 6, spellcheck: false, data: "numbers" });
  text.oninput = () => {
    const parts = text.value.split(/[\s,;[\]]+/).filter((part) => part !== "");
    const wrong = parts.find((part) => Number.isNaN(Number(part)));
    if (wrong !== undefined) onInput(null, words.notNumber(wrong));
    else if (parts.length !== data.length)
      onInput(null, words.notNumbers(parts.length, data.length));
    else {
      try {
        onInput(enteredArray(input, parts.map(Number)));
      } catch (error) {
        onInput(null, /** @type {Error} */ (error).message);
      }
    }
  };
  return {
    node: element(
      "label",
      { className: "numbers" },
      words.numbers(`(${shape.join(", ")})`, data.length),
      text,
    ),
    set(values) {
      text.value = Array.from(values, float32Text).join(" ");
      onInput(values);
    },
  };
}

/**
 * Buttons that show samples of the data.
 * @param {any} input @param {Data[]} samples @param {(sample: Data) => void} onChoose
 */
export function sampleButtons(input, samples, onChoose) {
  const buttons = samples.map((sample, i) => {
    const name = words.sample(i + 1);
    const made = button(input.kind === "picture" ? "" : String(i + 1), `sample-${i}`, () =>
      onChoose(sample),
    );
    made.setAttribute("aria-label", name);
    if (input.kind === "picture") {
      const canvas = element("canvas", {
        width: input.width,
        height: input.height,
        "aria-hidden": "true",
      });
      canvas.getContext("2d")?.putImageData(imageOf(sample, input, input.low, input.high), 0, 0);
      made.append(canvas);
    }
    return made;
  });
  return element(
    "section",
    { className: "samples" },
    element("h3", {}, words.samples),
    element("div", {}, ...buttons),
  );
}
