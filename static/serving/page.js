// The page of the model server: what it serves, how fast, and a place to try it.

import { comparison } from "./comparison.js";
import { clear, drawable, sampleOf, sideOf } from "./drawing.js";
import { element, part } from "./elements.js";
import { Latencies } from "./latency.js";
import { modelView } from "./overview.js";
import { outputs, overview, Refused, useToken } from "./server.js";
import { language, words } from "./words.js";

/** @typedef {import("./server.js").ModelRecord} ModelRecord */

const POLL_MS = 1000;

const latencies = new Latencies();
const page = { models: /** @type {ModelRecord[]} */ ([]), choices: "" };
const status = part("status", HTMLElement);
const canvas = part("canvas", HTMLCanvasElement);
const sample = part("sample", HTMLTextAreaElement);
const selects = {
  model: part("model", HTMLSelectElement),
  first: part("first", HTMLSelectElement),
  second: part("second", HTMLSelectElement),
  scale: part("scale", HTMLSelectElement),
};

async function poll() {
  try {
    const { models } = await overview();
    page.models = models;
    for (const model of models) {
      for (const { version, latency } of model.versions) {
        latencies.add(`${model.name}/${version}`, latency);
      }
    }
    part("token-form", HTMLFormElement).hidden = true;
    show();
  } catch (error) {
    const needsToken = error instanceof Refused && error.status === 401;
    part("token-form", HTMLFormElement).hidden = !needsToken;
    status.textContent = needsToken ? words.needsToken : words.unreachable;
  }
  setTimeout(poll, POLL_MS);
}

function show() {
  const { models } = page;
  const areReady = models.every((model) => model.versions.length > 0);
  status.textContent = models.length ? (areReady ? words.ready : words.notReady) : words.none;
  part("models", HTMLElement).replaceChildren(...models.map((each) => modelView(each, latencies)));
  const choices = JSON.stringify(models.map((each) => [each.name, numbers(each)]));
  if (choices !== page.choices) {
    page.choices = choices;
    showChoices();
  }
}

/** @param {ModelRecord} model */
const numbers = (model) => model.versions.map(({ version }) => version);

const chosen = () => page.models.find((each) => each.name === selects.model.value);

/** Offer the models and versions that there are, and keep the choice if it is among them. */
function showChoices() {
  const usable = page.models.filter((each) => each.versions.length > 0);
  part("try", HTMLElement).hidden = usable.length === 0;
  offer(
    selects.model,
    usable.map((each) => each.name),
    0,
  );
  const versions = chosen() ? numbers(/** @type {ModelRecord} */ (chosen())).map(String) : [];
  offer(selects.first, versions, versions.length - 2);
  offer(selects.second, versions, versions.length - 1);
  showInput();
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} values
 * @param {number} preferred  the index of the value to choose if the present one is not there
 */
function offer(select, values, preferred) {
  const before = select.value;
  select.replaceChildren(...values.map((value) => element("option", { value }, value)));
  select.value = values.includes(before) ? before : (values[Math.max(0, preferred)] ?? "");
}

const signature = () => chosen()?.versions.at(-1)?.signature;

function showInput() {
  const inputs = signature()?.inputs ?? [];
  const isDrawn = inputs.length === 1 && sideOf(inputs[0].shape) > 0;
  part("drawing", HTMLElement).hidden = !isDrawn;
  const zeros = inputs.map(({ name, shape }) => [name, zerosOf(shape.slice(1))]);
  sample.value = JSON.stringify(inputs.length > 1 ? Object.fromEntries(zeros) : zeros[0]?.[1]);
  part("answers", HTMLElement).replaceChildren();
}

/**
 * @param {(number | null)[]} shape
 * @returns {unknown}
 */
function zerosOf([size, ...rest]) {
  return size === undefined ? 0 : Array.from({ length: size ?? 1 }, () => zerosOf(rest));
}

function showDrawing() {
  const shape = signature()?.inputs[0].shape ?? [];
  sample.value = JSON.stringify(sampleOf(canvas, shape, Number(selects.scale.value)));
}

async function compare() {
  const problem = part("problem", HTMLElement);
  problem.textContent = "";
  const model = chosen();
  const versions = [selects.first, selects.second].map((select) =>
    model?.versions.find(({ version }) => String(version) === select.value),
  );
  const [first, second] = versions;
  if (!model || !first || !second) return;
  try {
    const data = JSON.parse(sample.value);
    const [one, two] = await Promise.all([
      outputs(model, first, data),
      outputs(model, second, data),
    ]);
    const answers = comparison(
      { version: first.version, outputs: one },
      { version: second.version, outputs: two },
    );
    part("answers", HTMLElement).replaceChildren(...answers);
  } catch (error) {
    problem.textContent = error instanceof SyntaxError ? words.notJson : String(error);
  }
}

document.documentElement.lang = language;
for (const each of document.querySelectorAll("[data-text]")) {
  const key = /** @type {keyof typeof words} */ (each.getAttribute("data-text"));
  each.textContent = words[key];
}
canvas.setAttribute("aria-label", words.draw);
drawable(canvas, showDrawing);
selects.model.addEventListener("change", showChoices);
selects.scale.addEventListener("change", showDrawing);
part("clear", HTMLButtonElement).addEventListener("click", () => {
  clear(canvas);
  showDrawing();
});
part("run", HTMLButtonElement).addEventListener("click", compare);
part("token-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(part("token", HTMLInputElement).value);
});
poll();
