/**
 * The script of a stand-alone page: a trained network, something to give it, and its answer.
 * `app/playgrad/interchange/webpage/` writes such pages.
 */

import { OldBrowserError } from "./compiled-network.js";
import { element } from "./elements.js";
import {
  enteredArray,
  numbersControl,
  pictureControl,
  rowControl,
  sampleButtons,
} from "./inputs.js";
import { openNetwork } from "./network.js";
import { shown } from "./outputs.js";
import { viewAt } from "./tensors.js";
import { textPage } from "./text-page.js";
import { isChinese, words } from "./words.js";

/** @import { Data } from "./tensors.js" */
/** @import { Network } from "./network.js" */

const CONTROLS = { picture: pictureControl, row: rowControl, numbers: numbersControl };

/** @param {Network} network @returns {{input: HTMLElement, output: HTMLElement}} */
function predictingPage(network) {
  const { inputs, outputs, samples } = network.about;
  const answer = element(
    "div",
    { data: "answer", role: "status" },
    element("p", { className: "hint" }, words.waiting),
  );
  /** @type {(Data | null)[]} */
  const values = inputs.map(() => null);
  let latest = 0;

  async function predict() {
    const number = (latest += 1);
    if (values.includes(null))
      return answer.replaceChildren(element("p", { className: "hint" }, words.waiting));
    try {
      const results = await network.predict(/** @type {Data[]} */ (values));
      if (number !== latest) return; // there is newer input
      answer.replaceChildren(...results.map((value, i) => shown(outputs[i], value)));
    } catch (error) {
      answer.replaceChildren(
        element("p", { className: "problem" }, words.failed(/** @type {Error} */ (error).message)),
      );
    }
  }

  /** @type {{node: HTMLElement, set: (data: Data) => void}[]} */
  const controls = inputs.map((/** @type {any} */ input, /** @type {number} */ i) => {
    const problem = element("p", { className: "problem", role: "alert" });
    const control = CONTROLS[/** @type {keyof typeof CONTROLS} */ (input.kind)](
      input,
      (data, text = "") => {
        problem.textContent = text;
        values[i] = data;
        predict();
      },
    );
    control.node.append(problem);
    return control;
  });
  const choices = samples.map((/** @type {string} */ text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return viewAt(bytes.buffer, 0, inputs[0]);
  });
  const input = element("div", {}, ...controls.map((control) => control.node));
  if (choices.length > 0) {
    input.append(sampleButtons(inputs[0], choices, (sample) => controls[0].set(sample)));
    controls[0].set(choices[0]);
  }
  return { input, output: answer };
}

async function main() {
  const place = /** @type {HTMLElement} */ (document.getElementById("main"));
  document.documentElement.lang = isChinese ? "zh-Hans" : "en";
  const chip = element("span", { className: "chip", data: "backend" });
  /** @param {import("./network.js").Backend} backend */
  const tell = (backend) => (chip.textContent = words.backends[backend]);
  try {
    const network = await openNetwork((id) => document.getElementById(id)?.textContent ?? "", tell);
    const { title, parameters, inputs } = network.about;
    tell(network.backend);
    // For the console, and for other scripts: predict([...]) with the values of each input.
    Object.assign(globalThis, {
      predict: async (/** @type {ArrayLike<number>[]} */ ...values) => {
        const results = await network.predict(
          values.map((each, i) => enteredArray(inputs[i], each)),
        );
        return results.map((result) => Array.from(result.data));
      },
    });
    const parts = inputs[0].kind === "text" ? textPage(network) : predictingPage(network);
    place.replaceChildren(
      element("header", {}, element("h1", {}, title), chip, element("p", {}, words.about)),
      element(
        "section",
        { className: "panel", "aria-label": words.input },
        element("h2", {}, words.input),
        parts.input,
      ),
      element(
        "section",
        { className: "panel", "aria-label": words.output },
        element("h2", {}, words.output),
        parts.output,
      ),
      element("footer", {}, words.madeWith(parameters.toLocaleString())),
    );
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    const text = error instanceof OldBrowserError ? message : words.damaged(message);
    place.replaceChildren(element("p", { className: "problem", role: "alert" }, text));
  }
}

main();
