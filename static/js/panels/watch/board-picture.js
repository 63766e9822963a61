import { html, signal, useEffect, useRef, useState } from "../../../vendor/preact.js";
import { Asker, QUICK_MS } from "../../engine/asker.js";
import { outputsFor } from "../../engine/questions.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { floats } from "../../training/task.js";
import { useProgress } from "../../training/use-training.js";
import {
  EMPTY,
  bestMove,
  isOver,
  moved,
  positionsAfter,
  sideToMove,
  wonLine,
} from "./tic-tac-toe.js";

/** @import { Cells, Side } from "./tic-tac-toe.js" */
/** @typedef {{of: Cells, values: Float32Array}} Ratings of a move to each cell, by the side whose turn it was */

/** The game, which continues after a visit of another tab. */
const game = signal(
  /** @type {{cells: Cells, visitor: Side, last: number | null}} */ ({
    cells: EMPTY,
    visitor: 1,
    last: null,
  }),
);

/** Move, unless the game has changed meanwhile. @param {Cells} cells @param {number} at */
function play(cells, at) {
  if (game.value.cells === cells) game.value = { ...game.value, cells: moved(cells, at), last: at };
}

const begin = (/** @type {Side} */ visitor) =>
  (game.value = { cells: [...EMPTY], visitor, last: null });

/**
 * A board on which the visitor plays against the network, as it is now; before there is one, against chance. The free cells
 * show how the network rates the visitor's moves.
 */
export function BoardPicture() {
  const { cells, visitor, last } = game.value;
  const over = isOver(cells);
  const isTheirs = !over && sideToMove(cells) !== visitor;
  const hasNetwork = store.hasModel.value;
  const { ratings, problem } = useRatings(cells, over);
  useEffect(() => {
    if (!isTheirs || (hasNetwork && ratings?.of !== cells)) return;
    const chance = Array.from(cells, () => Math.random());
    play(cells, bestMove(cells, hasNetwork && ratings ? ratings.values : chance));
  }, [cells, isTheirs, hasNetwork, ratings]);

  const rated = ratings?.of === cells && !isTheirs && !over ? ratings.values : null;
  const words = t().board;
  return html`
    <div class="game">
      <${Grid} cells=${cells} last=${last} ratings=${rated} isOpen=${!over && !isTheirs} />
      <div class="game-side">
        <p class="game-state" role="status" data-testid="board-state">${problem ? t().task.problem(problem) : sentence(hasNetwork)}</p>
        <div class="game-begin" role="group" aria-label=${words.newGame}>
          <span>${words.newGame}</span>
          <button type="button" class="button small" data-testid="board-you-begin" onClick=${() => begin(1)}>${words.youBegin}</button>
          <button type="button" class="button small" data-testid="board-it-begins" onClick=${() => begin(-1)}>${words.itBegins}</button>
        </div>
        <p class="hint game-about">${hasNetwork ? words.ratings : words.before}</p>
      </div>
    </div>
  `;
}

/** How the game stands. @param {boolean} hasNetwork */
function sentence(hasNetwork) {
  const { cells, visitor, last } = game.value;
  const words = t().board;
  const won = wonLine(cells);
  if (won) return cells[won[0]] === visitor ? words.youWon : words.itWon(hasNetwork);
  if (isOver(cells)) return words.draw;
  if (sideToMove(cells) !== visitor) return words.thinks;
  const stone = visitor === 1 ? "X" : "O";
  return last === null ? words.yourTurn(stone) : words.moved(placeOf(last), stone, hasNetwork);
}

/** @param {number} at */
const placeOf = (at) => t().board.place(Math.floor(at / 3) + 1, (at % 3) + 1);

/** The network's ratings of all moves: again after each move, and while it trains. @param {Cells} cells @param {boolean} over */
function useRatings(cells, over) {
  const [ratings, setRatings] = useState(/** @type {Ratings | null} */ (null));
  const [problem, setProblem] = useState("");
  const asker = useRef(/** @type {Asker | null} */ (null));
  asker.current ??= new Asker(
    async (isCurrent) => {
      const of = game.value.cells;
      const began = performance.now();
      const values = floats(await outputsFor(positionsAfter(of)));
      const isOne = values.length === of.length;
      const take = () => {
        if (!isCurrent()) return;
        setProblem(isOne ? "" : t().board.several(values.length / of.length));
        if (isOne) setRatings({ of, values });
      };
      const rest = store.runState.value === "running" ? 20 * (performance.now() - began) : 0;
      return { take, interval: QUICK_MS, rest };
    },
    (why, isCurrent) => {
      if (isCurrent && why) setProblem(why);
    },
  );
  // Weights of an earlier visit are loaded only for one who plays.
  const isKnown = () => {
    const { last, visitor } = game.value;
    const hasBegun = last !== null || visitor === -1;
    return !over && (store.liveModel.value || (store.hasModel.value && hasBegun));
  };
  useEffect(() => {
    asker.current?.show(true);
    return () => {
      asker.current?.renewed(false); // the answer on its way is nobody's
      asker.current?.show(false);
    };
  }, []);
  const { began } = store.executed.value;
  useEffect(() => setProblem(""), [began]);
  useEffect(
    () => asker.current?.renewed(isKnown()),
    [
      cells,
      began,
      store.hasModel.value,
      store.liveModel.value,
      store.past.value,
      store.shrunk.value,
    ],
  );
  const changed = () => asker.current?.changed(isKnown());
  useProgress(changed);
  useEffect(changed, [store.runState.value]);
  return { ratings: store.hasModel.value ? ratings : null, problem };
}

/**
 * The cells: buttons, of which the arrow keys choose one.
 * @param {{cells: Cells, last: number | null, ratings: Float32Array | null, isOpen: boolean}} props
 */
function Grid({ cells, last, ratings, isOpen }) {
  const [focused, setFocused] = useState(4);
  const grid = useRef(/** @type {HTMLElement | null} */ (null));
  const won = wonLine(cells);
  function onKeyDown(/** @type {KeyboardEvent} */ event) {
    const [row, column] = [Math.floor(focused / 3), focused % 3];
    const to = /** @type {Record<string, number>} */ ({
      ArrowLeft: column > 0 ? focused - 1 : focused,
      ArrowRight: column < 2 ? focused + 1 : focused,
      ArrowUp: row > 0 ? focused - 3 : focused,
      ArrowDown: row < 2 ? focused + 3 : focused,
    })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setFocused(to);
    /** @type {HTMLElement | undefined} */ (grid.current?.children[to])?.focus();
  }
  return html`
    <div class="board" role="group" aria-label=${t().board.board} data-testid="board" ref=${grid} onKeyDown=${onKeyDown}>
      ${cells.map((cell, at) => {
        const rating = cell === 0 && ratings ? ratings[at] : null;
        const size = Math.min(1, Math.abs(rating ?? 0)) || 0;
        return html`<button key=${at} type="button" class="cell" data-testid=${`cell-${at}`} tabindex=${at === focused ? 0 : -1}
          data-stone=${stoneOf(cell)} data-last=${at === last ? "" : undefined} data-won=${won?.includes(at) ? "" : undefined}
          data-sign=${rating === null ? undefined : rating < 0 ? "minus" : "plus"} style=${{ "--size": `${Math.round(45 * size)}%` }}
          aria-disabled=${cell !== 0 || !isOpen ? "true" : undefined} aria-label=${t().board.cell(placeOf(at), stoneOf(cell), rating === null ? "" : signed(rating))}
          onFocus=${() => setFocused(at)} onClick=${() => cell === 0 && isOpen && play(cells, at)}
          >${cell === 0 ? html`<span class="rating">${rating === null ? "" : signed(rating)}</span>` : html`<${Stone} side=${cell} />`}</button>`;
      })}
    </div>
  `;
}

/** @param {Side | 0} cell */
const stoneOf = (cell) => (cell === 0 ? undefined : cell === 1 ? "X" : "O");

/** @param {number} value */
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

/** @param {{side: Side}} props */
const Stone = ({
  side,
}) => html`<svg class="stone" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
  ${side === 1 ? html`<path d="m4.5 4.5 11 11m0-11-11 11" />` : html`<circle cx="10" cy="10" r="5.8" />`}</svg>`;
