import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { setLearningRate } from "../state/actions.js";
import { argumentOf, defaultOf, literalOf, valueOf } from "../blocks/calls.js";
import { LOSSES, OPTIMIZERS } from "../blocks/catalogue.js";
import { nameFor, setArgument, setClass, setSeed } from "../blocks/edits.js";
import {
  RATE_SLIDER,
  enteredNumber,
  inputText,
  numberText,
  placeOfRate,
  rateAt,
  titleOf,
} from "../blocks/field-values.js";
import { isNumber } from "../blocks/syntax.js";
import { GlossaryLink } from "../components/docs-link.js";
import { Icon } from "../components/icons.js";
import { LockMark } from "../editor/lock-mark.js";
import { t } from "../words/locale.js";
import { isHeld } from "../sharing/locks.js";
import { BlockField, Row, Stepper } from "./block-fields.js";
import { change, program } from "./blocks-model.js";
import { CardProblems, problemsAt, wrongField } from "./card-problems.js";
import { useRefusal } from "./field-problem.js";
import { Metrics } from "./metrics-field.js";
import { pieceOf } from "./pieces.js";
import { Definition, describedBy, termId, termOf, useTerm, valueTerm } from "./terms.js";
import { TrySeveral } from "./try-several.js";

/** @import { Label } from "../blocks/catalogue.js" */
/** @import { Call, Range, Training } from "../blocks/types.js" */

/** How long the slider rests before a running training takes its value. */
const REST_MS = 120;

/** @type {import("../blocks/catalogue.js").Field} */
const PRECISION = {
  parameter: "precision",
  label: "precision",
  type: "choice",
  options: ['"float32"', '"mixed"'],
};

/** Optimizer, loss and the numbers of a training. @param {{training: Training, number: number, isOnly: boolean}} props */
export function TrainingCard({ training, number, isOnly }) {
  const [explained, setExplained] = useState(false);
  const { optimizer, schedule, compile, fit, name } = training;
  const id = `training-${number}`;
  const words = t().blocks;
  const title = isOnly || !name ? words.training.title : words.training.of(name);
  const label = words.card.aboutThis;
  return html`<section class="block training-card" data-testid="training-card" data-card=${id} aria-label=${title}
    data-problem=${problemsAt(id).length > 0 ? "" : undefined}>
    <div class="block-head">
      <h3>${title}</h3>
      <div class="block-actions">${[compile, fit, optimizer, schedule].some((call) => call && isHeld(call)) && html`<${LockMark} />`}<button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
        aria-expanded=${explained} onClick=${() => setExplained(!explained)}><${Icon} name="question" /></button></div>
    </div>
    ${explained && html`<p class="block-about">${words.about.training} <${GlossaryLink} /></p>`}
    <div class="block-fields">
      ${(compile || optimizer) && html`<${Optimizer} ...${{ training, id }} />`}
      <${Rate} ...${{ call: schedule ?? optimizer, isSchedule: schedule !== null, id, isOnly }} />
      ${compile && html`<${Loss} ...${{ compile, id }} /><${Metrics} ...${{ compile, name, id }} />`}
      ${
        fit &&
        html`<${FitNumber} ...${{ fit, id, parameter: "batch_size", label: "batchSize", fallback: "32" }} />
        <${FitNumber} ...${{ fit, id, parameter: "epochs", label: "epochs", fallback: "1" }} />`
      }
      ${optimizer && html`<${Decay} ...${{ optimizer, id }} />`}
      ${compile && html`<${BlockField} call=${compile} field=${PRECISION} id=${`${id}-precision`} />`}
      ${number === 0 && html`<${Seed} />`}
    </div>
    <${CardProblems} card=${id} />
  </section>`;
}

/** @param {{training: Training, id: string}} props */
function Optimizer({ training: { optimizer, compile }, id }) {
  const label = t().blocks.fields.optimizer;
  const given = argumentOf(compile, "optimizer");
  if (given && !optimizer && !given.literal) {
    return html`<${Row} label=${label} id=${`${id}-optimizer`}><code id=${`${id}-optimizer`} class="block-source">${given.text}</code></${Row}>`;
  }
  const value = optimizer?.kind ?? named(given?.value?.value) ?? "Adam";
  /** @param {any} event */
  function choose({ target }) {
    const full = `optim.${target.value}`;
    const said = t().blocks.said.set(label, target.value);
    if (optimizer) return change(setClass(program.value, optimizer, full), said);
    if (!compile) return;
    const { name, changes } = nameFor(program.value, full);
    change([...changes, ...setArgument(program.value, compile, "optimizer", `${name}()`)], said);
  }
  const term = termOf("optimizer", value);
  return html`<${Menu} ...${{ label, id: `${id}-optimizer`, value, choose, term, piece: optimizer ?? (compile && pieceOf(compile, "optimizer")) }}
    options=${OPTIMIZERS.map((kind) => ({ value: kind, title: kind }))} />`;
}

/** The class of a name such as "adam". @param {unknown} name */
const named = (name) =>
  OPTIMIZERS.find((kind) => kind.toLowerCase() === String(name).toLowerCase());

/**
 * @param {{label: string, id: string, value: string, choose: (event: any) => void, options: {value: string, title: string}[],
 *          piece: Range | null, term: string}} props
 */
function Menu({ label, id, value, choose, options, piece, term }) {
  const all = options.some((each) => each.value === value)
    ? options
    : [{ value, title: value }, ...options];
  const wrong = wrongField(id);
  return html`<${Row} label=${label} id=${id} piece=${piece} term=${term}><select id=${id} aria-invalid=${Boolean(wrong)}
    aria-describedby=${describedBy(id, wrong)} value=${value} onChange=${choose}>
    ${all.map((each) => html`<option key=${each.value} value=${each.value} selected=${each.value === value} title=${valueTerm(each.value)}>${each.title}</option>`)}
  </select></${Row}>`;
}

/**
 * The learning rate. A training that runs takes it at once, unless a schedule sets it.
 * @param {{call: Call | null, isSchedule: boolean, id: string, isOnly: boolean}} props
 */
function Rate({ call, isSchedule, id, isOnly }) {
  const [moving, setMoving] = useState(/** @type {number | null} */ (null));
  const slider = `${id}-rate`;
  const { refuse, accept, described, note } = useRefusal(slider);
  const wrong = wrongField(`${id}-learning_rate`);
  const name = isSchedule ? "firstLearningRate" : "learningRate";
  const label = t().blocks.fields[name];
  const explains = useTerm(slider, label, termOf(name));
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (!call) return null;
  const first = call.kind === "OneCycle" ? "max_learning_rate" : "initial_learning_rate";
  const parameter = isSchedule ? first : "learning_rate";
  const given = argumentOf(call, parameter);
  const value = valueOf(call, parameter);
  if ((given && !given.literal) || (value?.type !== "float" && value?.type !== "int")) {
    const text = given?.text ?? t().blocks.field.inProgram;
    return html`<${Row} label=${label} id=${slider} term=${termOf(name)}><code id=${slider} class="block-source">${text}</code></${Row}>`;
  }
  const isLocked = isHeld(pieceOf(call, parameter));
  const rate = moving ?? value.value;
  /** @param {number} next */
  const live = (next) => {
    clearTimeout(timer.current);
    if (!isSchedule && isOnly)
      timer.current = window.setTimeout(() => setLearningRate(next), REST_MS);
  };
  /** @param {string} text */
  const write = (text) =>
    change(setArgument(program.value, call, parameter, text), t().blocks.said.set(label, text));
  return html`<div class="block-field block-rate" ...${explains.row}>
    <label for=${slider} ...${explains.label}>${label}</label><${Definition} id=${slider} text=${termOf(name)} />
    <input type="range" id=${slider} data-testid="learning-rate" aria-describedby=${termId(slider)} disabled=${isLocked} min=${RATE_SLIDER.least} max=${RATE_SLIDER.most}
      step=${RATE_SLIDER.step} value=${placeOfRate(rate)} aria-valuetext=${numberText(rate)}
      onInput=${(/** @type {any} */ { target }) => {
        accept();
        setMoving(rateAt(Number(target.value)));
        live(rateAt(Number(target.value)));
      }}
      onChange=${(/** @type {any} */ { target }) => {
        setMoving(null);
        write(numberText(rateAt(Number(target.value))));
      }} />
    <input class="rate-number" aria-label=${label} disabled=${isLocked} inputmode="decimal" value=${numberText(rate)}
      aria-invalid=${Boolean(described ?? wrong)} aria-describedby=${describedBy(slider, described ?? wrong)}
      onChange=${(/** @type {any} */ { target }) => {
        const entered = enteredNumber(target.value);
        const next = Number(entered);
        if (!(next > 0 && next < Infinity)) {
          refuse(t().blocks.field.notPositive(target.value, isNumber(literalOf(entered))));
          target.value = numberText(rate);
          return;
        }
        accept();
        write(numberText(next));
        live(next);
      }} /><${TrySeveral} ...${{ call, field: rateField(parameter, name), label, text: numberText(value.value) }} />${note}
  </div>`;
}

/** @param {string} parameter @param {Label} label @returns {import("../blocks/catalogue.js").Field} */
const rateField = (parameter, label) => ({
  parameter,
  label,
  type: "number",
  least: Number.MIN_VALUE,
});

/** @param {{compile: Call, id: string}} props */
function Loss({ compile, id }) {
  const label = t().blocks.fields.loss;
  const titles = t().blocks.training.losses;
  const given = argumentOf(compile, "loss");
  const known = given?.call?.name.startsWith("nn.") ? given.call : null;
  if (given && !known && given.value?.type !== "string") {
    return html`<${Row} label=${label} id=${`${id}-loss`}><code id=${`${id}-loss`} class="block-source">${given.text}</code></${Row}>`;
  }
  const value = known?.kind ?? String(given?.value?.value ?? t().blocks.field.none);
  const term = termOf("loss", value, titles[/** @type {keyof typeof titles} */ (value)] ?? value);
  /** @param {any} event */
  function choose({ target }) {
    const loss = LOSSES.find(({ kind }) => kind === target.value);
    if (!loss) return;
    const { name, changes } = nameFor(program.value, `nn.${loss.kind}`);
    const set = setArgument(program.value, compile, "loss", `${name}(${loss.given})`);
    change([...changes, ...set], t().blocks.said.set(label, titles[loss.kind]));
  }
  return html`<${Menu} ...${{ label, id: `${id}-loss`, value, choose, term, piece: pieceOf(compile, "loss") }}
    options=${LOSSES.map(({ kind }) => ({ value: kind, title: titles[kind] }))} />`;
}

/** @param {{fit: Call, id: string, parameter: string, label: Label, fallback: string}} props `fallback`: the library's default */
function FitNumber({ fit, id, parameter, label, fallback }) {
  const field = { parameter, label, type: /** @type {const} */ ("count"), least: 1 };
  const value = valueOf(fit, parameter);
  const text = value?.type === "none" ? fallback : inputText(field, value);
  return html`<${ParameterStepper} ...${{ call: fit, id, field, text, double: parameter === "batch_size" }} />`;
}

/** @param {{optimizer: Call, id: string}} props */
function Decay({ optimizer, id }) {
  const field = {
    parameter: "weight_decay",
    label: /** @type {const} */ ("weightDecay"),
    type: /** @type {const} */ ("number"),
    least: 0,
    step: 0.001,
  };
  const value = valueOf(optimizer, field.parameter);
  const text = value?.type === "none" ? "" : inputText(field, value);
  const optional = defaultOf(optimizer.name, field.parameter)?.type === "none";
  return html`<${ParameterStepper} ...${{ call: optimizer, id, field, text, optional }} />`;
}

/**
 * A number that a call takes.
 * @param {{call: Call, id: string, field: import("../blocks/catalogue.js").Field, text: string | null,
 *          double?: boolean, optional?: boolean}} props `text`: null if the program computes it
 */
function ParameterStepper({ call, id, field, text, double, optional }) {
  const { parameter } = field;
  const label = t().blocks.fields[field.label];
  const given = argumentOf(call, parameter);
  const inner = `${id}-${parameter}`;
  if (text === null || (given && !given.literal))
    return html`<${BlockField} call=${call} field=${field} id=${inner} />`;
  const write = (/** @type {string} */ next) =>
    change(
      setArgument(program.value, call, parameter, next),
      t().blocks.said.set(label, titleOf(next)),
    );
  return html`<${Row} label=${label} id=${inner} piece=${pieceOf(call, parameter)} term=${termOf(field.label)}><${Stepper} ...${{ id: inner, field, text, write, double, optional }} /><${TrySeveral} ...${{ call, field, label, text }} /></${Row}>`;
}

/** The seed of weights, dropout and order. */
function Seed() {
  const label = t().blocks.fields.seed;
  const given = argumentOf(program.value.seed, "seed");
  const field = {
    parameter: "seed",
    label: /** @type {const} */ ("seed"),
    type: /** @type {const} */ ("count"),
    least: 0,
  };
  if (given && !given.literal)
    return html`<${BlockField} call=${program.value.seed} field=${field} id="seed" />`;
  const text = given?.value?.type === "int" ? String(given.value.value) : "0";
  const write = (/** @type {string} */ next) =>
    change(setSeed(program.value, Number(next)), t().blocks.said.set(label, next));
  return html`<${Row} label=${label} id="seed" piece=${given} term=${termOf("seed")}><${Stepper} id="seed" field=${field} text=${text} write=${write} /></${Row}>`;
}
