import { html, useEffect, useState } from "../../vendor/preact.js";
import { gameView } from "../engine/questions.js";
import { shownProgram } from "../panels/watch/shown-program.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";
import { GameControls } from "./game-controls.js";
import { GameGrid } from "./game-grid.js";
import { standing } from "./game-words.js";
import { ValueBar } from "./value-bar.js";
import { SearchTree } from "./search-tree.js";
import { isOf, match, move } from "./match.js";
import { firstBoard, gameOf } from "./programs.js";
import { useGame } from "./use-game.js";
import { useNetwork, useNewGame } from "./use-match.js";

/** @import { Game, GameView } from "../../engine/messages.js" */

/** A board on which the visitor plays against a network that learns by playing itself, as it is now. */
export function GamePicture() {
  const known = gameOf(shownProgram());
  const { view: answered, problem } = useGame(known?.rules ?? null);
  const form = store.game.value ?? known?.form ?? null;
  const view = answered && form && isSame(answered.game, form) ? answered : null;
  useNewGame(form);
  useNetwork(view, problem);
  if (!form)
    return html`<p class="hint task-hint" data-testid="play-unknown">${t().game.unknown}</p>`;
  return html`<${Play} game=${form} view=${view} problem=${problem} />`;
}

/** @param {{game: Game, view: GameView | null, problem: string}} props */
function Play({ game, view, problem }) {
  const [refusal, setRefusal] = useState("");
  const { actions, visitor } = match.value;
  useEffect(() => setRefusal(""), [actions, view?.position]);
  const isCurrent = isOf(view, actions);
  const position = view?.position ?? null;
  const turn = position?.turns.at(-1) ?? 0;
  const isTheirs = visitor !== null && (isCurrent ? turn === visitor : !view && actions.length === 0 && visitor === 0);
  const isOver = isCurrent && position?.result !== null;
  const pending = !isCurrent && actions.length > 0 && (!view || isOf(view, actions.slice(0, -1))) ? actions[actions.length - 1] : null;
  const search = isCurrent ? (view?.search ?? null) : null;
  const hasNetwork = view ? view.search !== null || isOver : store.game.value !== null;
  const words = t().game;

  async function choose(/** @type {number | null} */ action) {
    if (isOver) return setRefusal(words.isOver);
    if (visitor === null) return setRefusal(words.isWatching);
    if (!isTheirs) return setRefusal(words.wait);
    if (action === null) return setRefusal(words.noMove);
    if (!position || position.legal.includes(action)) return move(actions, action);
    // Python knows the rule.
    const rules = gameOf(shownProgram())?.rules ?? null;
    const why = await gameView([...actions, action], 0, rules).then(() => "", (failure) => failure.message);
    if (match.value.actions === actions) setRefusal(why);
  }

  const text = refusal || problem && t().task.problem(problem) || (view && isCurrent ? standing(view, match.value, hasNetwork) : view || actions.length > 0 ? words.thinks(hasNetwork) : words.start(store.active.value));
  return html`
    <div class="play" data-testid="play" data-game=${game.name}>
      <${GameGrid} game=${game} board=${position?.board ?? firstBoard(game)} position=${position} search=${search} pending=${pending}
        player=${turn} isOpen=${isTheirs && !isOver} choose=${choose} />
      <div class="play-side">
        <p class="play-state" role="status" data-testid="play-state" data-refused=${refusal ? "" : undefined}>${text}</p>
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
