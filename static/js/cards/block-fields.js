import { html } from "../../vendor/preact.js";
import { argumentOf, literalOf, valueOf } from "../blocks/calls.js";
import { nameFor, setArgument } from "../blocks/edits.js";
import {
  enteredNumber,
  inputText,
  quoted,
  shapeLiteral,
  stepped,
  titleOf,
} from "../blocks/field-values.js";
import { isNumber } from "../blocks/syntax.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import { isHeld } from "../sharing/locks.js";
import { change, program } from "./blocks-model.js";
import { wrongField } from "./card-problems.js";
import { useRefusal } from "./field-problem.js";
import { pieceOf } from "./pieces.js";
import { Definition, describedBy, termId, termOf, useTerm, valueTerm } from "./terms.js";
import { TrySeveral } from "./try-several.js";

/** @import { Field } from "../blocks/catalogue.js" */
/** @import { Argument, Call, Range } from "../blocks/types.js" */

/**
 * A field of a card, which shows one argument of a call and rewrites it.
 * @param {{call: Call, field: Field, id: string}} props
 */
export function BlockField({ call, field, id }) {
  const given = argumentOf(call, field.parameter);
  const label = t().blocks.fields[field.label];
  const piece = pieceOf(call, field.parameter);
  if (field.type === "regularizer")
    return html`<${Regularizer} ...${{ call, field, id, given }} />`;
  const value = valueOf(call, field.parameter);
  const text = inputText(field, value);
  if ((given && !given.literal) || (text === null && given) || call.starred) {
    return html`<${Row} label=${label} id=${id} term=${termOf(field.label)}><code class="block-source" id=${id}
      title=${t().blocks.field.inCode}>${given?.text ?? "*"}</code></${Row}>`;
  }
  const term = termOf(field.label, field.type === "choice" ? (text ?? "") : undefined);
  const write = (/** @type {string} */ next) => {
    const changes = setArgument(
      program.value,
      call,
      field.parameter,
      quoted(next, program.value.text),
    );
    change(changes, t().blocks.said.set(label, titleOf(next)));
  };
  const props = { id, field, text: text ?? "", write };
  return html`<${Row} label=${label} id=${id} piece=${piece} term=${term}>${control(props)}<${TrySeveral} ...${{ call, field, label, text: props.text }} /></${Row}>`;
}

/** @typedef {{id: string, field: Field, text: string, write: (text: string) => void}} ControlProps */

/** @param {ControlProps} props */
function control(props) {
  switch (props.field.type) {
    case "choice":
      return html`<${Choice} ...${props} />`;
    case "flag":
      return html`<input type="checkbox" id=${props.id} aria-describedby=${termId(props.id)} checked=${props.text === "True"}
        onChange=${(/** @type {any} */ event) => props.write(event.target.checked ? "True" : "False")} />`;
    case "shape":
      return html`<${ShapeInput} ...${props} />`;
    default:
      return html`<${Stepper} ...${props} />`;
  }
}

/**
 * A name with its control, which is out of use while its piece of the program is locked.
 * @param {{label: string, id: string, piece?: Range | null, term?: string, children?: any}} props `term`: what the name means
 */
export function Row({ label, id, piece, term = "", children }) {
  const isLocked = Boolean(piece) && isHeld(/** @type {Range} */ (piece));
  const explains = useTerm(id, label, term);
  const content = html`<label for=${id} ...${explains.label}>${label}</label>${children}<${Definition} id=${id} text=${term} />`;
  return isLocked
    ? html`<fieldset class="block-field" disabled title=${t().locks.held}>${content}</fieldset>`
    : html`<div class="block-field" ...${explains.row}>${content}</div>`;
}

/** @param {ControlProps} props */
function Choice({ id, field, text, write }) {
  const options = field.options ?? [];
  const all = options.includes(text) ? options : [text, ...options];
  return html`<select id=${id} aria-describedby=${termId(id)} value=${text} onChange=${(/** @type {any} */ event) => write(event.target.value)}>
    ${all.map((each) => html`<option key=${each} value=${each} selected=${each === text} title=${valueTerm(each)}>${titleOf(each)}</option>`)}
  </select>`;
}

/**
 * A number with buttons for less and more. Other input is refused with the reason.
 * @param {ControlProps & {double?: boolean, optional?: boolean}} props `double`: by factors of 2
 */
export function Stepper({ id, field, text, write, double, optional }) {
  const label = t().blocks.fields[field.label];
  const words = t().blocks.field;
  const { refuse, accept, described, note } = useRefusal(id);
  const wrong = described ?? wrongField(id);
  const step = (/** @type {1 | -1} */ direction) => {
    accept();
    const next = stepped(text, direction, field, double);
    if (next !== text) write(next);
  };
  /** @param {any} event */
  function take({ target }) {
    const entered = enteredNumber(target.value);
    const value = literalOf(entered);
    const isWhole = field.type !== "number";
    const fits =
      (value?.type === "int" || (value?.type === "float" && !isWhole)) &&
      value.value >= (field.least ?? -Infinity) &&
      value.value <= (field.most ?? Infinity);
    const isNone = optional && entered === "";
    if (fits || isNone) accept();
    else
      refuse(
        words.refused(target.value, {
          label,
          isNumber: isNumber(value),
          isWhole,
          least: field.least,
          most: field.most,
        }),
      );
    if (isNone) write("None");
    else if (fits && entered !== text) write(entered);
    else target.value = text;
  }
  return html`<span class="stepper">
    <button type="button" class="button quiet" aria-label=${words.lessOf(label)} title=${words.less}
      onClick=${() => step(-1)}><${Icon} name="minus" /></button>
    <input id=${id} inputmode=${field.type === "number" ? "decimal" : "numeric"} value=${text} autocomplete="off"
      placeholder=${optional ? words.none : undefined} aria-invalid=${Boolean(wrong)} aria-describedby=${describedBy(id, wrong)} onChange=${take} onKeyDown=${(
        /** @type {KeyboardEvent} */ event,
      ) => {
        if (event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
        event.preventDefault();
        step(event.key === "ArrowUp" ? 1 : -1);
      }} />
    <button type="button" class="button quiet" aria-label=${words.moreOf(label)} title=${words.more}
      onClick=${() => step(1)}><${Icon} name="plus" /></button>
  </span>${note}`;
}

/** Sizes such as "28 × 28 × 1". @param {ControlProps} props */
function ShapeInput({ id, text, write }) {
  const { refuse, accept, described, note } = useRefusal(id);
  /** @param {any} event */
  function take({ target }) {
    const literal = shapeLiteral(enteredNumber(target.value));
    if (literal === null) return refuse(t().blocks.field.sizes);
    accept();
    write(literal);
  }
  return html`<input id=${id} class="block-shape-input" value=${text} autocomplete="off" aria-invalid=${Boolean(described)}
    aria-describedby=${describedBy(id, described)} onChange=${take} />${note}`;
}

/** @param {{call: Call, field: Field, id: string, given: Argument | null}} props */
function Regularizer({ call, field, id, given }) {
  const label = t().blocks.fields[field.label];
  const { none } = t().blocks.field;
  const kind = given?.call && ["L1", "L2"].includes(given.call.kind) ? given.call.kind : "";
  if (given && !kind && given.value?.type !== "none") {
    return html`<${Row} label=${label} id=${id}><code class="block-source" id=${id}>${given.text}</code></${Row}>`;
  }
  /** @param {any} event */
  function choose({ target }) {
    const { name, changes } = nameFor(program.value, `nn.${target.value || "L2"}`);
    const text = target.value ? `${name}(0.001)` : "None";
    const set = setArgument(program.value, call, field.parameter, text);
    change(
      target.value ? [...changes, ...set] : set,
      t().blocks.said.set(label, target.value || none),
    );
  }
  const inner = kind ? given?.call : null;
  return html`<${Row} label=${label} id=${id} piece=${pieceOf(call, field.parameter)} term=${termOf(field.label, kind || undefined)}>
    <select id=${id} aria-describedby=${termId(id)} value=${kind} onChange=${choose}>
      ${[
        ["", none],
        ["L2", "L2"],
        ["L1", "L1"],
      ].map(
        ([value, title]) => html`
        <option key=${value} value=${value} selected=${value === kind} title=${valueTerm(value)}>${title}</option>`,
      )}
    </select>
  </${Row}>
  ${
    inner &&
    html`<${BlockField} call=${inner} id=${`${id}-strength`}
    field=${{ parameter: kind.toLowerCase(), label: "strength", type: "number", least: 0, step: 0.001 }} />`
  }`;
}
