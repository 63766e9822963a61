import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { movesBesideCells } from "./cells.js";
import { actionName } from "./game-words.js";
import { HEATS, SIMULATIONS, begin, choices, hold, match, movesAfterUndo, undo } from "./match.js";

/** @import { Game, GameView } from "../../engine/messages.js" */

/**
 * A new game, undo, pass, how far the network looks ahead, and what the cells show of that.
 * @param {{game: Game, view: GameView | null, isOpen: boolean, choose: (action: number | null) => void}} props
 *   `isOpen`: the visitor may move
 */
export function GameControls({ game, view, isOpen, choose }) {
  const words = t().game;
  const { visitor, isHeld } = match.value;
  const turns = view?.position.turns ?? [0];
  const { passes } = game;
  const canPass = isOpen && passes !== null && (view?.position.legal.includes(passes) ?? true);
  const legal = view?.position.legal;
  const moves = movesBesideCells(game).slice(0, MOST_BUTTONS);
  const canUndo = movesAfterUndo(match.value, turns) !== null;
  return html`
    <div class="play-buttons" role="group" aria-label=${words.newGame} data-no-picture>
      <span>${words.newGame}</span>
      <button type="button" class="button small" data-testid="play-first" onClick=${() => begin(0)}>${words.youBegin}</button>
      <button type="button" class="button small" data-testid="play-second" onClick=${() => begin(1)}>${words.itBegins}</button>
      <button type="button" class="button small" data-testid="play-watch" title=${words.about.watch} onClick=${() => begin(null)}>${words.watch}</button>
    </div>
    <div class="play-buttons" data-no-picture>
      <button type="button" class="button small" data-testid="play-undo" disabled=${!canUndo} title=${words.about.undo} onClick=${() => undo(turns)}>${words.undo}</button>
      ${
        visitor === null
          ? html`<button type="button" class="button small" data-testid="play-hold" onClick=${hold}>${isHeld ? words.goOn : words.hold}</button>`
          : passes !== null &&
            html`<button type="button" class="button small" data-testid="play-pass" disabled=${!canPass} title=${words.about.pass} onClick=${() => choose(passes)}>${words.doPass}</button>`
      }
      <${Choice} testId="play-simulations" about=${words.about.simulations} values=${SIMULATIONS} name=${words.looks}
        value=${choices.value.simulations} choose=${(/** @type {string} */ value) => change({ simulations: Number(value) })} />
      <${Choice} testId="play-heat" about=${words.about.cells} values=${HEATS} name=${words.shows}
        value=${choices.value.heat} choose=${(/** @type {import("./match.js").Heat} */ heat) => change({ heat })} />
    </div>
    ${
      moves.length > 0 &&
      html`<div class="play-buttons" role="group" aria-label=${words.moves} data-no-picture>
      ${moves.map((action) => html`<button key=${action} type="button" class="button small" data-testid="play-move" disabled=${!isOpen || !legal?.includes(action)} onClick=${() => choose(action)}>${actionName(game, action)}</button>`)}
    </div>`
    }
  `;
}

/** The most buttons for moves that are not made on the board. */
const MOST_BUTTONS = 60;

/** @param {Partial<typeof choices.value>} changes */
const change = (changes) => (choices.value = { ...choices.value, ...changes });

/**
 * @template {string | number} V
 * @param {{testId: string, about: string, values: V[], name: (value: V) => string, value: V, choose: (value: string) => void}} props
 */
const Choice = ({ testId, about, values, name, value, choose }) => html`
  <select data-testid=${testId} aria-label=${about} title=${about}
    onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => choose(currentTarget.value)}>
    ${values.map((each) => html`<option key=${each} value=${String(each)} selected=${each === value}>${name(each)}</option>`)}
  </select>`;
