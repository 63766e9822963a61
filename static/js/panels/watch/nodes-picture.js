import { html, useMemo, useRef, useState } from "../../../vendor/preact.js";
import { count, percent, short } from "../../words/format.js";
import { nameOfClass } from "../../words/class-names.js";
import { t } from "../../words/locale.js";
import { readPalette } from "../../pictures/palette.js";
import { theme } from "../../frame/theme.js";
import { NodesBoard } from "./nodes-board.js";
import { NodesLegend } from "./nodes-legend.js";
import { useNodesLayout } from "./nodes-layout.js";
import { answerOf, arriving, graphOf } from "./nodes-model.js";

/**
 * @import { NodeData } from "../../../engine/messages.js"
 * @import { Colouring, Messages, NodesAnswer, NodesGraph, NodesView } from "./nodes-model.js"
 */

/** Messages of a node that are listed. */
const LISTED = 6;
/** The choice of no layer: all lines are alike. */
const NO_LAYER = "";
/** The choice before the visitor makes one: the last layer with attention. */
const OWN_CHOICE = null;

/**
 * The graph whose nodes a network classifies, with what it says of each.
 * @param {{view: NodesView, names: string[]}} props `names`: of the classes, unless the graph has them
 */
export function NodesPicture({ view, names: named }) {
  const data = /** @type {NodeData} */ (view.data);
  const names = data.class_names.length > 0 ? data.class_names : named;
  const graph = useMemo(() => graphOf(data), [data]);
  const answer = useMemo(() => answerOf(view), [view]);
  const layout = useNodesLayout(graph.numbers.length, graph.pairs);
  const [colouring, setColouring] = useState(/** @type {Colouring} */ ("predicted"));
  const [layer, setLayer] = useState(/** @type {string | null} */ (OWN_CHOICE));
  const [choice, setChoice] = useState({ node: -1, isHeld: false });
  const name = theme.value;
  const palette = useMemo(readPalette, [name]);
  const chosen = choice.node < graph.numbers.length ? choice.node : -1;
  const shown = layer === OWN_CHOICE ? (view.attention.at(-1)?.layer ?? NO_LAYER) : layer;
  const messages = answer.messages.find((each) => each.layer === shown) ?? null;
  // Said once: it would be repeated while the network trains.
  const spoken = useMemo(
    () => (chosen < 0 ? "" : sentence(graph, answer, chosen, messages, names)),
    [chosen, graph],
  );
  const empty = useRef(new Float32Array(0));
  const words = t().nodes;
  return html`
    <div class="nodes" data-testid="nodes-picture" data-settled=${layout.isSettled ? "" : undefined}>
      <${NodesBoard} label=${words.picture(count(graph.numbers.length), count(graph.pairs.length / 2))} graph=${graph} answer=${answer}
        points=${layout.points ?? empty.current} palette=${palette} colouring=${colouring} messages=${messages} chosen=${chosen}
        isHeld=${choice.isHeld} onChoose=${(/** @type {number} */ node, /** @type {boolean} */ isHeld) => setChoice({ node, isHeld })} />
      <div class="nodes-side" data-chosen=${chosen < 0 ? undefined : ""}>
        <p class="nodes-score" data-testid="nodes-score">${words.right(shareOf(view.others), shareOf(view.training))}</p>
        <${Controls} colouring=${colouring} onColour=${setColouring} layers=${answer.messages} layer=${shown} onLayer=${setLayer} />
        <${NodesLegend} graph=${graph} answer=${answer} colouring=${colouring} palette=${palette} names=${names} />
        <p class="visually-hidden" role="status" data-testid="nodes-spoken">${spoken}</p>
        <div class="nodes-one" data-testid="nodes-one">
          ${
            chosen < 0
              ? html`<p class="hint">${layout.problem ? t().task.problem(layout.problem) : words.choose}</p>
                ${graph.total > graph.numbers.length && html`<p class="hint" data-testid="nodes-part">${words.part(count(graph.numbers.length), count(graph.total))}</p>`}`
              : html`<${OneNode} graph=${graph} answer=${answer} node=${chosen} messages=${messages} names=${names} />`
          }
        </div>
      </div>
    </div>
  `;
}

/** @param {{right: number, all: number}} share */
const shareOf = ({ right, all }) =>
  all === 0 ? null : { percent: percent(right / all, 1), right: count(right), all: count(all) };

/**
 * @param {{colouring: Colouring, onColour: (colouring: Colouring) => void, layers: Messages[], layer: string,
 *          onLayer: (layer: string) => void}} props
 */
function Controls({ colouring, onColour, layers, layer, onLayer }) {
  const words = t().nodes;
  return html`
    <div class="segments" role="group" aria-label=${words.colours}>
      ${
        /** @type {Colouring[]} */ (["predicted", "true", "right"]).map(
          (each) =>
            html`<button type="button" class="button quiet small" key=${each} data-testid=${`nodes-colour-${each}`} aria-pressed=${each === colouring ? "true" : "false"}
          onClick=${() => onColour(each)}>${words.colouring[each]}</button>`,
        )
      }
    </div>
    ${
      layers.length > 0 &&
      html`<label class="toggle nodes-layer">${words.lines}
      <select data-testid="nodes-layer" onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => onLayer(event.currentTarget.value)}>
        <option value="" selected=${layer === NO_LAYER}>${words.alike}</option>
        ${layers.map((each) => html`<option key=${each.layer} value=${each.layer} selected=${each.layer === layer}>${words.messagesOf(each.layer)}</option>`)}
      </select></label>`
    }
  `;
}

/**
 * A node in words: its class, the predicted one, and the messages that arrive from its neighbours.
 * @param {NodesGraph} graph
 * @param {NodesAnswer} answer
 * @param {number} node
 * @param {Messages | null} messages
 * @param {string[]} names
 */
function factsOf(graph, answer, node, messages, names) {
  const words = t().nodes;
  const [label, predicted] = [graph.labels[node], answer.predicted[node]];
  const nameOf = (/** @type {number} */ each) => graph.names[each] ?? String(graph.numbers[each]);
  const title = `${graph.names[node] ?? words.node(graph.numbers[node])}${graph.trains[node] ? `, ${words.trains}` : ""}`;
  const isKnown = label >= 0;
  const isRight = isKnown ? label === predicted : null;
  const verdict = words.verdict({
    truth: isKnown ? nameOfClass(label, names) : words.unknown,
    predicted: predicted < 0 ? words.neither : nameOfClass(predicted, names),
    chance: answer.chances ? percent(answer.chances[node], 0) : "",
    isRight,
  });
  const all = arriving(graph, node, messages);
  const rows = all.slice(0, LISTED).map((each) => {
    const said = answer.predicted[each.node];
    const name = said < 0 ? words.neither : nameOfClass(said, names);
    return { from: words.from(nameOf(each.node), name), weight: each.weight };
  });
  if (messages && messages.own[node] > 0)
    rows.unshift({ from: words.fromItself, weight: messages.own[node] });
  const head = messages ? words.messages(all.length) : words.neighbours(all.length);
  return { title, verdict, isRight, head, rows, left: all.length - LISTED };
}

/** The same as a text. @type {(...of: Parameters<typeof factsOf>) => string} */
function sentence(...of) {
  const { title, verdict, head, rows, left } = factsOf(...of);
  const list = rows.map(({ from, weight }) => (weight >= 0 ? `${from}: ${short(weight)}` : from));
  if (left > 0) list.push(t().nodes.more(left));
  return `${title}. ${verdict}. ${head} ${list.join("; ")}`;
}

/**
 * @param {{graph: NodesGraph, answer: NodesAnswer, node: number, messages: Messages | null, names: string[]}} props
 */
function OneNode({ graph, answer, node, messages, names }) {
  const { title, verdict, isRight, head, rows, left } = factsOf(
    graph,
    answer,
    node,
    messages,
    names,
  );
  const most = Math.max(...rows.map(({ weight }) => weight || 0));
  return html`
    <p><b>${title}</b></p>
    <p data-right=${isRight === null ? undefined : String(isRight)} class="nodes-verdict">${verdict}</p>
    <p class="hint">${head}</p>
    <ul class="nodes-messages">
      ${rows.map(
        ({ from, weight }) =>
          html`<li key=${from}><span>${from}</span>${
            weight >= 0 &&
            html`<span class="nodes-weight" style=${{ "--part": `${Math.round((100 * weight) / (most || 1))}%` }}>${short(weight)}</span>`
          }</li>`,
      )}
      ${left > 0 && html`<li class="hint">${t().nodes.more(left)}</li>`}
    </ul>
  `;
}
