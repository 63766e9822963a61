import { html, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { argumentOf, valueOf } from "../blocks/calls.js";
import { isMadeUp, setData, setRatio } from "../blocks/data-change.js";
import { SETS, shapeOf } from "../blocks/data.js";
import { inputText } from "../blocks/field-values.js";
import { suitedSettings } from "../blocks/suited.js";
import { Icon } from "../components/icons.js";
import { LockMark } from "../editor/lock-mark.js";
import { whenIdle } from "../start/when-idle.js";
import { percent, shape } from "../words/format.js";
import { language, t } from "../words/locale.js";
import { isHeld, locksHere } from "../sharing/locks.js";
import { BlockField, Row } from "./block-fields.js";
import { change, program } from "./blocks-model.js";
import { YourDataButton } from "./brought-card.js";
import { CardProblems, problemsAt } from "./card-problems.js";
import { DataOffer, asksAbout, choseData } from "./data-offer.js";
import { termId, termOf } from "./terms.js";

/** @import { Field } from "../blocks/catalogue.js" */
/** @import { Call } from "../blocks/types.js" */

/** The name of a data set. @param {string} kind */
const titleOf = (kind) => t().blocks.data.sets[/** @type {"mnist"} */ (kind)];

/** Of data that is made up. @param {"points" | "images"} sort @returns {Field[]} */
const fieldsOf = (sort) => [
  { parameter: "noise", label: "noise", type: "number", least: 0, most: 0.5, step: 0.01 },
  { parameter: "samples", label: sort, type: "count", least: 10, most: 20000 },
  {
    parameter: "seed",
    label: sort === "points" ? "pointsSeed" : "imagesSeed",
    type: "count",
    least: 0,
  },
];

/** The ratio of the menu. */
const RATIOS = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"];

/**
 * The data sets to offer: all of them, once the page has nothing else to do or the returned function
 * is called. The program is changed for each, which takes 0.2 s while the page opens.
 * @param {string} current
 */
function useKinds(current) {
  const [areAll, setAll] = useState(false);
  const offerAll = () => setAll(true);
  useEffect(() => whenIdle(offerAll), []);
  const kinds = useMemo(() => (areAll ? Object.keys(SETS) : [current]), [areAll, current]);
  return /** @type {const} */ ([kinds, offerAll]);
}

/** A data set of the library. @param {{call: Call, number: number}} props */
export function DataCard({ call, number }) {
  const [explained, setExplained] = useState(false);
  const set = SETS[call.kind];
  const isPoints = set.sort === "points";
  const hasFields = isMadeUp(call.kind);
  const id = `data-${number}`;
  const current = program.value;
  const [kinds, offerAll] = useKinds(call.kind);
  const outcomes = useMemo(
    () => kinds.map((kind) => ({ kind, ...setData(current, call, kind, isHeld) })),
    [current, call, kinds, language.value, locksHere.value],
  );
  const left = outcomes.filter(({ changes }) => !changes);
  /** @param {any} event */
  function choose({ target }) {
    const changes = outcomes.find(({ kind }) => kind === target.value)?.changes;
    if (!changes) return;
    change(changes, t().blocks.said.data(titleOf(target.value)));
    choseData(target.value);
  }
  const suited = asksAbout(call.kind) ? suitedSettings(current, call.kind) : null;
  const words = t().blocks.data;
  const label = t().blocks.card.aboutThis;
  return html`<section class="block data-card" data-testid="data-card" data-card=${id} aria-label=${words.title}
    data-problem=${problemsAt(id).length > 0 ? "" : undefined}>
    <div class="block-head">
      <h3>${words.title}</h3>
      <span class="block-measure"><span title=${words.shape}>${t().blocks.card.shapeBefore} <b>${shape(shapeOf(call.kind, call))}</b></span>
        ${!isPoints && html`<span>${t().data.classes(set.classes)}</span>`}</span>
      <div class="block-actions">${isHeld(call) && html`<${LockMark} />`}<button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
        aria-expanded=${explained} onClick=${() => setExplained(!explained)}><${Icon} name="question" /></button></div>
    </div>
    ${explained && html`<p class="block-about">${t().blocks.about.data}</p>`}
    <div class="block-fields">
      <${Row} label=${t().blocks.fields.set} id=${id} piece=${call} term=${termOf("set")}>
        <select id=${id} data-testid="dataset-select" aria-describedby=${termId(id)} value=${call.kind} onChange=${choose} onFocus=${offerAll}>
          ${outcomes.filter(({ changes }) => changes).map(({ kind }) => html`<option key=${kind} value=${kind} selected=${kind === call.kind}>${titleOf(kind)}</option>`)}
        </select>
      </${Row}>
      ${
        hasFields &&
        fieldsOf(set.sort).map(
          (field) => html`<${BlockField} key=${field.parameter} call=${call} field=${field}
        id=${`${id}-${field.parameter}`} />`,
        )
      }
      ${hasFields && html`<${Ratio} call=${call} id=${`${id}-ratio`} />`}
      <${YourDataButton} />
    </div>
    ${
      left.length > 0 &&
      html`<p class="block-from" data-testid="dataset-reason">${t().dataChange.notOffered(
        left.map(({ kind }) => titleOf(kind)),
        left[0].reason ?? "",
      )}</p>`
    }
    ${
      suited &&
      html`<${DataOffer} suited=${suited} question=${t().suited.question(titleOf(call.kind), suited.settings)}
        take=${t().suited.take} taken=${t().suited.taken} field=${id} />`
    }
    <${CardProblems} card=${id} />
  </section>`;
}

/** The share of points for training. @param {{call: Call, id: string}} props */
function Ratio({ call, id }) {
  const label = t().blocks.fields.ratio;
  const given = argumentOf(call, "ratio");
  const value = valueOf(call, "ratio");
  const text =
    value?.type === "none"
      ? ""
      : inputText({ parameter: "ratio", label: "ratio", type: "number" }, value);
  if ((given && !given.literal) || text === null || call.starred) {
    return html`<${Row} label=${label} id=${id} term=${termOf("ratio")}><code class="block-source" id=${id}>${given?.text ?? "*"}</code></${Row}>`;
  }
  const first = setRatio(program.value, call, RATIOS[7]);
  const options = text === "" || RATIOS.includes(text) ? RATIOS : [...RATIOS, text].sort();
  /** @param {any} event */
  function choose({ target }) {
    const { changes } = setRatio(program.value, call, target.value);
    if (changes) change(changes, t().blocks.said.set(label, inPercent(target.value)));
  }
  return html`<${Row} label=${label} id=${id} term=${termOf("ratio")}>
    <select id=${id} data-testid="ratio-select" aria-describedby=${termId(id)} value=${text} disabled=${!first.changes} onChange=${choose}
      title=${first.reason ?? t().dataChange.ratioAbout}>
      ${text === "" && html`<option value="" selected>${t().dataChange.all}</option>`}
      ${options.map((each) => html`<option key=${each} value=${each} selected=${each === text}>${inPercent(each)}</option>`)}
    </select>
  </${Row}>
  ${first.reason && html`<span class="hint" data-testid="ratio-reason">${first.reason}</span>`}`;
}

/** @param {string} ratio */
const inPercent = (ratio) =>
  percent(Number(ratio), Number.isInteger(Math.round(1e6 * Number(ratio)) / 1e4) ? 0 : 1);
