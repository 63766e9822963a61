import { html, useRef } from "../../vendor/preact.js";
import { gameView } from "../engine/questions.js";
import { shownProgram } from "../panels/watch/shown-program.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";
import { GameControls } from "./game-controls.js";
import { GameGrid } from "./game-grid.js";
import { standing, whyNot } from "./game-words.js";
import { ValueBar } from "./value-bar.js";
import { SearchTree } from "./search-tree.js";
import { choices, isOf, match, move, refusal, refuse } from "./match.js";
import { firstBoard, gameOf } from "./programs.js";
import { useGame } from "./use-game.js";
import { useNetwork, useNewGame } from "./use-match.js";

/** @import { Game, GameRules, GameView, Search } from "../../engine/messages.js" */

/** A board on which the visitor plays against a network that learns by playing itself, as it is now. */
export function GamePicture() {
  const known = gameOf(shownProgram());
  const { view: answered, problem } = useGame(known?.rules ?? null);
  const form = store.game.value ?? known?.form ?? null;
  const view = answered && form && isSame(answered.game, form) ? answered : null;
  useNewGame(form);
  useNetwork(view);
  if (!form)
    return html`<p class="hint task-hint" data-testid="play-unknown">${t().game.unknown}</p>`;
  return html`<${Play} game=${form} rules=${known?.rules ?? null} view=${view} problem=${problem} />`;
}

/** @param {{game: Game, rules: GameRules | null, view: GameView | null, problem: string}} props */
function Play({ game, rules, view, problem }) {
  const { actions, visitor } = match.value;
  const isCurrent = isOf(view, actions);
  const position = view?.position ?? null;
  const turn = position?.turns.at(-1) ?? 0;
  const isOver = isCurrent && position?.result !== null;
  const isTheirs = visitor !== null && (isCurrent ? turn : actions.length % 2) === visitor;
  const isOpen = isTheirs && !isOver && (isCurrent || !view);
  const search = isCurrent ? (view?.search ?? null) : null;
  const hasNetwork = store.game.value !== null || store.hasModel.value;
  const shown = useLastSearch(search, turn, isOver || !hasNetwork);
  const words = t().game;

  async function choose(/** @type {number | null} */ action) {
    if (!isOpen) refuse(actions, actions, whyClosed(isOver));
    else if (action === null) refuse(actions, actions, words.noMove);
    else if (!position || position.legal.includes(action)) move(actions, action);
    else {
      // Python knows the rule.
      const why = await gameView([...actions, action], 0, rules).then(whyNot, reason);
      refuse(actions, actions, why);
    }
  }

  const problemText = refusal.value || (problem && t().task.problem(problem));
  return html`
    <div class="play" data-testid="play" data-game=${game.name}>
      <${GameGrid} game=${game} board=${position?.board ?? firstBoard(game)} position=${position} search=${search}
        pending=${pendingMove(view)} player=${turn} isOpen=${isOpen} choose=${choose} />
      <div class="play-side">
        <p class="play-state" role="status" data-testid="play-state" data-refused=${refusal.value ? "" : undefined}>${
          problemText ||
          (isCurrent && view ? standing(view, match.value, hasNetwork) : waiting(view, hasNetwork))
        }</p>
        <${GameControls} game=${game} view=${view} isOpen=${isOpen} choose=${choose} />
        <${ValueBar} game=${game} search=${shown?.search ?? null} turn=${shown?.turn ?? turn} result=${isOver ? (position?.result ?? null) : null} />
        ${shown && shown.search.tree.length > 0 && html`<${SearchTree} game=${game} search=${shown.search} player=${shown.turn} />`}
        ${!hasNetwork && html`<p class="hint play-about">${words.before}</p>`}
      </div>
    </div>
  `;
}

/**
 * The search of the position, or until it has come, that of the one before: nothing disappears for a moment.
 * @param {Search | null} search @param {number} turn @param {boolean} hasNone
 */
function useLastSearch(search, turn, hasNone) {
  const last = useRef(/** @type {{search: Search, turn: number} | null} */ (null));
  const isWhole = search !== null && search.asked === choices.value.simulations;
  if (hasNone) last.current = null;
  if (search && (isWhole || !last.current)) last.current = { search, turn };
  return last.current;
}

/** The move that Python has not answered yet, if it is the only one. @param {GameView | null} view */
function pendingMove(view) {
  const { actions } = match.value;
  const isNext =
    actions.length > 0 && (view ? isOf(view, actions.slice(0, -1)) : actions.length === 1);
  return isNext ? actions[actions.length - 1] : null;
}

/** Why the visitor cannot move now. @param {boolean} isOver */
function whyClosed(isOver) {
  const words = t().game;
  if (isOver) return words.isOver;
  return match.value.visitor === null ? words.isWatching : words.wait;
}

/** What happens before there is an answer. @param {GameView | null} view @param {boolean} hasNetwork */
function waiting(view, hasNetwork) {
  const words = t().game;
  if (view || match.value.actions.length > 0 || match.value.visitor !== 0)
    return words.thinks(hasNetwork);
  return words.start(store.active.value);
}

/** @param {Error} failure */
const reason = ({ message }) => message;

/** Whether an answer is about the game on the board. @param {Game} one @param {Game} other */
const isSame = (one, other) =>
  one.name === other.name && one.rows === other.rows && one.columns === other.columns;
