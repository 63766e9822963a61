import { html, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { offer } from "../files/download.js";
import { bytes, count, shape } from "../words/format.js";
import { t } from "../words/locale.js";
import { ClassCounts } from "./class-counts.js";
import { missingNames, problemOfName, suggestedName, usedNames } from "./data-names.js";
import { aboutOf, classCounts, encodeSet } from "./data-set.js";
import { NameField } from "./name-field.js";
import * as userData from "./user-data.js";
import { beginProgram, keep, loadInProgram } from "./use.js";

/** @import { DataSet } from "./data-set.js" */

/**
 * What the data set will be, its name, and the ways to use it.
 * @param {{set: DataSet | null, problem: string, file: string}} props `problem`: why there is none
 */
export function UseData({ set, problem, file }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [outcome, setOutcome] = useState("");
  const name =
    typed ??
    missingNames.value[0] ??
    suggestedName(
      file,
      userData.names.value.filter((each) => !usedNames.value.includes(each)),
    );
  const wrong = problemOfName(name);
  const isOff = !set || wrong !== "";

  /** @param {typeof loadInProgram} use */
  const keepFor = (use) => async () => {
    if (!set || wrong) return;
    const content = new Uint8Array(await encodeSet(set).arrayBuffer());
    await keep(name, content, aboutOf(set), use);
  };
  function save() {
    if (!set) return;
    offer(`${name}.npz`, encodeSet(set));
    setOutcome(t().data.use.saved(name));
  }
  const words = t().data.use;
  return html`<section class="data-use" aria-label=${words.label}>
    <div role="alert">${problem && html`<p class="data-problem" data-testid="data-problem">${problem}</p>`}</div>
    ${set && html`<${Summary} set=${set} />`}
    <${NameField} name=${name} wrong=${wrong} onName=${setTyped}
      hint=${userData.has(name) ? t().data.names.replaces(name) : outcome} />
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="data-use" disabled=${isOff} onClick=${keepFor(loadInProgram)}
        title=${words.nowIs}>${words.now}</button>
      <button type="button" class="button" data-testid="data-begin" disabled=${isOff} onClick=${keepFor(beginProgram)}
        title=${words.beginIs}>${words.begin}</button>
      <button type="button" class="button quiet" data-testid="data-save" disabled=${isOff} onClick=${save}><${Icon} name="save" />${words.save}</button>
    </div>
    <p class="hint"><code>${loadLine(name)}</code></p>
  </section>`;
}

/** @param {{set: DataSet}} props */
function Summary({ set }) {
  const counts = classCounts(set);
  const { summary, ...words } = t().data.use;
  const values = set.shape.reduce((a, b) => a * b, 1) * (set.train.count + set.test.count);
  return html`<div class="data-summary" data-testid="data-summary">
    <p>${summary.first}<b data-testid="data-train">${count(set.train.count)}</b>${summary.toTrain}<b
      data-testid="data-test">${count(set.test.count)}</b>${summary.toTest}<b
      data-testid="data-shape">${shape(set.shape)}</b>${summary.each(bytes(values * set.train.x.BYTES_PER_ELEMENT))}</p>
    <${ClassCounts} label=${words.byClass} counts=${counts.map(({ name, train, test }) => ({
      name,
      number: train + test,
      text: `${count(train)} + ${count(test)}`,
    }))} />
    ${counts.length === 0 && html`<p class="hint">${words.target(...extent(set.train.y))}</p>`}
  </div>`;
}

/** The line of a program that loads data. @param {string} name */
const loadLine = (name) => `(x_train, y_train), (x_test, y_test) = pg.data.load("${name}")`;

/** The least and the largest value. @param {ArrayLike<number>} values @returns {[string, string]} */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at += 1) {
    low = Math.min(low, values[at]);
    high = Math.max(high, values[at]);
  }
  return [String(Number(low.toPrecision(4))), String(Number(high.toPrecision(4)))];
}

/**
 * The part for testing and the seed.
 * @param {{test: number, seed: number, change: (choices: {test?: number, seed?: number}) => void}} props
 */
export function SplitFields({ test, seed, change }) {
  return html`
    <label class="data-field"><span>${t().data.use.testPart}</span>
      <select data-testid="data-test-part" value=${String(test)} onChange=${(/** @type {any} */ event) => change({ test: Number(event.target.value) })}>
        ${[0.1, 0.2, 0.3, 0.5].map((part) => html`<option key=${part} value=${String(part)} selected=${part === test}>${100 * part}%</option>`)}
      </select></label>
    <label class="data-field"><span>${t().data.use.splitSeed}</span>
      <input type="number" class="data-seed" data-testid="data-seed" min="0" max="999999" step="1" value=${seed}
        onChange=${(/** @type {any} */ event) => {
          const value = Number(event.target.value);
          if (Number.isInteger(value) && value >= 0) change({ seed: value });
          else event.target.value = seed;
        }} /></label>`;
}
