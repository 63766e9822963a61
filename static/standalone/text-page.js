/** A network that continues text: a prompt, and its continuation. */

import { button, element } from "./elements.js";
import { softmax } from "./outputs.js";
import { zeros } from "./tensors.js";
import { percent, words } from "./words.js";

/** @import { Network } from "./network.js" */
const MOST_TOKENS = { characters: 400, words: 100 };
const EXPECTED = 6;

/** @param {Network} network @returns {{input: HTMLElement, output: HTMLElement}} */
export function textPage(network) {
  const [form] = network.about.inputs;
  const gap = form.words ? " " : "";
  const least = form.each ? 1 : form.length;
  const most = form.words ? MOST_TOKENS.words : MOST_TOKENS.characters;
  /** @type {Map<string, number>} */
  const numbers = new Map(
    form.tokens.map((/** @type {string} */ token, /** @type {number} */ i) => [token, i]),
  );
  const prompt = element("textarea", {
    rows: 4,
    spellcheck: false,
    value: form.prompt,
    data: "prompt",
  });
  const temperature = element("input", {
    type: "range",
    min: "0",
    max: "1.5",
    step: "0.1",
    value: "0.5",
    data: "temperature",
  });
  const degrees = element("output", {}, "0.5");
  const problem = element("p", { className: "problem", role: "alert", data: "problem" });
  const written = element(
    "p",
    { className: "written", data: "written", tabIndex: 0 },
    words.pressWrite,
  );
  const next = element("h3", { hidden: true }, words.next);
  const expected = element("tbody", { data: "expected" });
  let isWriting = false;

  /** @param {number[]} tokens @returns {Promise<Float64Array>} the scores of the next one */
  async function scoresAfter(tokens) {
    const seen = tokens.slice(-form.length);
    const data = zeros(form);
    seen.forEach(
      (token, i) =>
        (data[form.one_hot ? i * form.tokens.length + token : i] = form.one_hot ? 1 : token),
    );
    const [output] = await network.predict([data]);
    const first = form.each ? (seen.length - 1) * form.tokens.length : 0;
    const scores = Float64Array.from(output.data.subarray(first, first + form.tokens.length));
    return form.gives_probabilities
      ? scores.map((chance) => Math.log(Math.max(chance, Number.MIN_VALUE)))
      : scores;
  }

  async function write() {
    const parts = form.words ? prompt.value.split(/\s+/).filter(Boolean) : [...prompt.value];
    const strange = [...new Set(parts.filter((part) => !numbers.has(part)))];
    problem.textContent =
      strange.length > 0
        ? words.unknownTokens(strange.map((part) => `“${part}”`).join(" "))
        : parts.length < least
          ? words.tooShort(least)
          : "";
    if (problem.textContent) return;
    const tokens = parts.map((part) => /** @type {number} */ (numbers.get(part)));
    isWriting = true;
    start.textContent = words.stop;
    written.replaceChildren(element("span", { className: "begin" }, parts.join(gap) + gap));
    for (let i = 0; i < most && isWriting; i += 1) {
      const scores = await scoresAfter(tokens);
      if (i === 0) listExpected(softmax(scores));
      const token = chosen(scores, Number(temperature.value));
      tokens.push(token);
      written.append(form.tokens[token] + gap);
      await new Promise((done) => setTimeout(done)); // lets the browser draw
    }
    isWriting = false;
    start.textContent = words.write;
  }

  /** @param {number[]} chances */
  function listExpected(chances) {
    const order = [...chances.keys()].sort((i, j) => chances[j] - chances[i]).slice(0, EXPECTED);
    next.hidden = false;
    expected.replaceChildren(
      ...order.map((i) =>
        element(
          "tr",
          {},
          element(
            "th",
            { scope: "row" },
            form.tokens[i] === " " ? "␣" : form.tokens[i] === "\n" ? "↵" : form.tokens[i],
          ),
          element(
            "td",
            {},
            element("meter", { min: 0, max: 1, value: chances[i], "aria-hidden": "true" }),
          ),
          element("td", { className: "value" }, percent(chances[i])),
        ),
      ),
    );
  }

  const start = button(words.write, "write", () => {
    if (isWriting) isWriting = false;
    else write().catch((error) => (problem.textContent = words.failed(error.message)));
  });
  start.className = "primary";
  temperature.oninput = () => (degrees.textContent = Number(temperature.value).toFixed(1));
  return {
    input: element(
      "div",
      {},
      element("label", { className: "numbers" }, words.prompt(least), prompt),
      element("label", { className: "temperature" }, words.temperature, temperature, degrees),
      element("div", { className: "foot" }, start),
      problem,
    ),
    output: element("div", {}, written, next, element("table", { className: "bars" }, expected)),
  };
}

/** @param {Float64Array} scores @param {number} temperature */
function chosen(scores, temperature) {
  if (temperature === 0) return scores.indexOf(Math.max(...scores));
  let left = Math.random();
  const chances = softmax(scores.map((score) => score / temperature));
  return Math.max(
    0,
    chances.findIndex((chance) => (left -= chance) < 0),
  );
}
