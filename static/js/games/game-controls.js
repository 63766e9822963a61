import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { HEATS, SIMULATIONS, begin, choices, hold, match, movesAfterUndo, undo } from "./match.js";

/** @import { Game, GameView } from "../../engine/messages.js" */

/**
 * A new game, undo, pass, and how far the network looks ahead.
 * @param {{game: Game, view: GameView | null, isOpen: boolean, choose: (action: number | null) => void}} props
 */
export function GameControls({ game, view, isOpen, choose }) {
  const words = t().game;
  const { visitor, isHeld, actions } = match.value;
  const turns = view?.position.turns ?? [0];
  const isWatched = visitor === null;
  const canPass = isOpen && game.passes !== null && (view?.position.legal.includes(game.passes) ?? true);
  return html`
    <div class="play-buttons" data-no-picture>
      <div class="play-begin" role="group" aria-label=${words.newGame}>
        <span>${words.newGame}</span>
        <button type="button" class="button small" data-testid="play-first" onClick=${() => begin(0)}>${words.youBegin}</button>
        <button type="button" class="button small" data-testid="play-second" onClick=${() => begin(1)}>${words.itBegins}</button>
        <button type="button" class="button small" data-testid="play-watch" title=${words.about.watch} onClick=${() => begin(null)}>${words.watch}</button>
      </div>
      <div class="play-begin">
        <button type="button" class="button small" data-testid="play-undo" disabled=${movesAfterUndo(match.value, turns) === null} title=${words.about.undo} onClick=${() => undo(turns)}>${words.undo}</button>
        ${game.passes !== null && html`<button type="button" class="button small" data-testid="play-pass" disabled=${!canPass} title=${words.about.pass} onClick=${() => choose(game.passes)}>${words.doPass}</button>`}
        ${isWatched && html`<button type="button" class="button small" data-testid="play-hold" onClick=${hold}>${isHeld ? words.goOn : words.hold}</button>`}
        <span class="play-count" data-testid="play-count">${words.count(actions.length)}</span>
      </div>
      <div class="play-choices">
        <label>${words.simulations} <select data-testid="play-simulations" title=${words.about.simulations} value=${String(choices.value.simulations)}
          onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => (choices.value = { ...choices.value, simulations: Number(currentTarget.value) })}>
          ${SIMULATIONS.map((each) => html`<option key=${each} value=${String(each)} selected=${each === choices.value.simulations}>${words.looks(each)}</option>`)}</select></label>
        <label>${words.cells} <select data-testid="play-heat" title=${words.about.cells}
          onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => (choices.value = { ...choices.value, heat: /** @type {import("./match.js").Heat} */ (currentTarget.value) })}>
          ${HEATS.map((each) => html`<option key=${each} value=${each} selected=${each === choices.value.heat}>${words.heats[each]}</option>`)}</select></label>
      </div>
    </div>
  `;
}
