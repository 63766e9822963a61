import { html } from "../../vendor/preact.js";
import { gameView } from "../engine/questions.js";
import { shownProgram } from "../panels/watch/shown-program.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";
import { GameControls } from "./game-controls.js";
import { GameGrid } from "./game-grid.js";
import { standing, whyNot } from "./game-words.js";
import { ValueBar } from "./value-bar.js";
import { SearchTree } from "./search-tree.js";
import { isOf, match, move, refusal, refuse } from "./match.js";
import { firstBoard, gameOf } from "./programs.js";
import { useGame } from "./use-game.js";
import { useNetwork, useNewGame } from "./use-match.js";

/** @import { Game, GameRules, GameView } from "../../engine/messages.js" */

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
  const isTheirs =
    visitor !== null &&
    (isCurrent ? turn === visitor : !view && actions.length === 0 && visitor === 0);
  const isOver = isCurrent && position?.result !== null;
  const pending =
    !isCurrent && actions.length > 0 && (!view || isOf(view, actions.slice(0, -1)))
      ? actions[actions.length - 1]
      : null;
  const search = isCurrent ? (view?.search ?? null) : null;
  const hasNetwork = view ? view.search !== null || isOver : store.game.value !== null;
  const words = t().game;

  async function choose(/** @type {number | null} */ action) {
    const why = isOver
      ? words.isOver
      : visitor === null
        ? words.isWatching
        : !isTheirs
          ? words.wait
          : action === null
            ? words.noMove
            : "";
    if (why || action === null) refuse(actions, actions, why);
    else if (!position || position.legal.includes(action)) move(actions, action);
    else {
      const tried = await gameView([...actions, action], 0, rules); // Python knows the rule
      refuse(actions, actions, whyNot(tried));
    }
  }

  const text =
    refusal.value ||
    (problem && t().task.problem(problem)) ||
    (view && isCurrent
      ? standing(view, match.value, hasNetwork)
      : view || actions.length > 0
        ? words.thinks(hasNetwork)
        : words.start(store.active.value));
  return html`
    <div class="play" data-testid="play" data-game=${game.name}>
      <${GameGrid} game=${game} board=${position?.board ?? firstBoard(game)} position=${position} search=${search} pending=${pending}
        player=${turn} isOpen=${isTheirs && !isOver} choose=${choose} />
      <div class="play-side">
        <p class="play-state" role="status" data-testid="play-state" data-refused=${refusal.value ? "" : undefined}>${text}</p>
        <${GameControls} game=${game} view=${view} isOpen=${isTheirs && !isOver} choose=${choose} />
        <${ValueBar} game=${game} search=${search} turn=${turn} isOver=${isOver} result=${position?.result ?? null} />
        ${search ? html`<${SearchTree} game=${game} search=${search} player=${turn} />` : html`<p class="hint play-about">${hasNetwork ? "" : words.before}</p>`}
      </div>
    </div>
  `;
}

/** Whether an answer is about the game on the board. @param {Game} one @param {Game} other */
const isSame = (one, other) =>
  one.name === other.name && one.rows === other.rows && one.columns === other.columns;
