import { html, useState } from "../../vendor/preact.js";
import { argumentOf } from "../blocks/calls.js";
import { entryOf } from "../blocks/catalogue.js";
import { canRemove, duplicateLayer } from "../blocks/structure.js";
import { Icon } from "../components/icons.js";
import { LockMark } from "../editor/lock-mark.js";
import { t } from "../words/locale.js";
import { isHeld } from "../sharing/locks.js";
import * as commands from "./block-commands.js";
import { useDrag } from "./block-drag.js";
import { BlockField } from "./block-fields.js";
import { linkedBlock, lookAtBlock } from "./block-links.js";
import { lastRun, program, shapes } from "./blocks-model.js";
import { CardProblems, problemsAt } from "./card-problems.js";

/** @import { Inferred } from "../blocks/shapes.js" */
/** @import { Item, Network } from "../blocks/types.js" */

/** @typedef {import("./block-commands.js").Position} Position */

/**
 * The card of a layer, an input, or code that Blocks cannot read.
 * @param {{item: Item, position: Position, count: number}} props `count`: the number of cards
 */
export function BlockCard({ item, position, count }) {
  const [explained, setExplained] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const result = shapes.value.get(item.id);
  const ran = lastRun.value.get(item.id)?.layers ?? [];
  const entry = item.call && entryOf(item.call.kind);
  const network = program.value.networks[position.network];
  const words = t().blocks.card;
  const inner = item.call && argumentOf(item.call, "layer")?.call;
  const kind =
    item.call?.kind ?? (item.type === "join" ? t().blocks.calculation : t().blocks.yourCode);
  const title = inner ? `${kind} ${inner.kind}` : kind;
  const sources = sourcesOf(network, position.index);
  const id = `block-${position.network}-${position.index}`;
  const fielded = inner ?? item.call;
  const fields = fielded ? (entryOf(fielded.kind)?.fields ?? []) : [];
  const shown = fields.filter(
    ({ more, parameter }) => !more || unfolded || argumentOf(fielded, parameter),
  );
  const isFolded = fields.some(({ more }) => more);
  const isLocked = isHeld(item);
  const isWrong = problemsAt(id).length > 0;
  const isLinked =
    linkedBlock.value?.network === position.network && linkedBlock.value.index === position.index;

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const direction = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    if (direction === undefined || event.target instanceof HTMLSelectElement) return;
    event.preventDefault();
    const way = direction > 0 ? 1 : -1;
    if (commands.canMove(position, way)) commands.move(position, position.index + way);
  }

  return html`<li class="block" data-testid="block" data-type=${item.type} data-kind=${item.call?.kind ?? ""}
    data-locked=${isLocked ? "" : undefined} aria-current=${isLinked ? "true" : undefined} data-problem=${isWrong ? "" : undefined} data-card=${id} data-position=${`${position.network}-${position.index}`}
    aria-labelledby=${`${id}-title`} onKeyDown=${onKeyDown} onFocusIn=${() => lookAtBlock(position)} onClick=${() => lookAtBlock(position)}>
    <div class="block-head">
      <${Grip} ...${{ position, title, count }} />
      <h4 id=${`${id}-title`}>${
        network.type === "functional" &&
        html`<span class="block-number">${position.index + 1}</span>`
      }${title}</h4>
      <${Measure} ...${{ item, result }} />
      <div class="block-actions">
        <${Action} icon="question" label=${item.call ? words.about(title) : words.aboutThis} pressed=${explained}
          onClick=${() => setExplained(!explained)} />
        ${
          duplicateLayer(program.value, network, position.index) &&
          html`<${Action} icon="copy" label=${words.duplicate(title)} onClick=${() => commands.duplicate(position)} />`
        }
        ${isLocked && html`<${LockMark} />`}
        ${
          canRemove(item) &&
          !isLocked &&
          html`<${Action} icon="remove" label=${words.remove(title)} onClick=${() => commands.remove(position)} />`
        }
      </div>
    </div>
    ${sources && html`<p class="block-from">${sources}</p>`}
    ${explained && html`<p class="block-about">${entry ? t().layers.about[entry.kind] : item.call ? words.ofLibrary : t().blocks.about.code}</p>`}
    ${
      (!item.call || (!entry && item.call.arguments.length > 0)) &&
      html`<pre class="block-code" tabindex="0" aria-label=${t().blocks.yourCode}>${item.text}</pre>`
    }
    ${item.type === "code" && ran.length > 0 && html`<p class="block-about">${words.ran(ran)}</p>`}
    ${
      fields.length > 0 &&
      html`<div class="block-fields">
      ${shown.map(
        (field) => html`<${BlockField} key=${field.parameter} call=${fielded} field=${field}
        id=${`${id}-${field.parameter}`} />`,
      )}
      ${
        isFolded &&
        html`<button type="button" class="button quiet small block-more" aria-expanded=${unfolded}
        onClick=${() => setUnfolded(!unfolded)}>${unfolded ? words.less : words.more}</button>`
      }
    </div>`
    }
    <${CardProblems} card=${id} />
  </li>`;
}

/** The cards that a card takes, unless it is the one before it. @param {Network} network @param {number} index */
function sourcesOf({ type, items }, index) {
  const { inputs } = items[index];
  const isNext = index > 0 && inputs.length === 1 && inputs[0] === items[index - 1].id;
  if (type !== "functional" || isNext || inputs.length === 0) return "";
  const names = inputs.map((id) => {
    const at = items.findIndex((each) => each.id === id);
    return at < 0
      ? t().blocks.yourCodeInside
      : `${at + 1} ${items[at].call?.kind ?? t().blocks.yourCodeInside}`;
  });
  return t().blocks.card.from(names);
}

/** Shape and parameters. @param {{item: Item, result?: Inferred}} props */
function Measure({ item, result }) {
  const words = t().blocks.card;
  if (result?.problem) return html`<span class="block-measure" data-unfit>${words.unfit}</span>`;
  if (!result?.shape) {
    const isLater = lastRun.value.size === 0;
    return html`<span class="block-measure">${item.type === "code" ? "" : isLater ? words.shapeLater : words.shapeUnknown}</span>`;
  }
  const sizes = result.shape.map((size) => size ?? t().shapes.any).join(" × ") || "1";
  const count = result.parameters;
  const parameters =
    count === null ? words.parametersLater : count === 0 ? "" : words.parameters(count);
  return html`<span class="block-measure">
    ${parameters && html`<span>${parameters}</span>`}
    <span title=${words.shape}>${words.shapeBefore} <b>${sizes}</b></span>
  </span>`;
}

/** The handle: drag it, or press Alt and an arrow. @param {{position: Position, title: string, count: number}} props */
function Grip({ position, title, count }) {
  const drag = useDrag(position);
  const words = t().blocks.card;
  const canMove = commands.canMove(position, 1) || commands.canMove(position, -1);
  return html`<button type="button" class="block-grip" ...${canMove ? drag : {}} data-fixed=${canMove ? undefined : ""}
    title=${canMove ? words.drag : undefined}
    aria-label=${(canMove ? words.placeMovable : words.place)(title, position.index + 1, count)}
    aria-keyshortcuts=${canMove ? "Alt+ArrowUp Alt+ArrowDown" : undefined}><${Icon} name="grip" /></button>`;
}

/** @param {{icon: any, label: string, pressed?: boolean, onClick: () => void}} props */
function Action({ icon, label, pressed, onClick }) {
  return html`<button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
    aria-expanded=${pressed} onClick=${onClick}><${Icon} name=${icon} /></button>`;
}
