import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { cellsOfMoves, coordinates, heatOf, leastNumbered, lookOf } from "./cells.js";
import { actionName, signed, stoneName } from "./game-words.js";
import { choices, pointedAt } from "./match.js";

/** @import { Game, Position, Search } from "../../engine/messages.js" */

/**
 * The board: a grid, of which the arrow keys choose a cell, and Enter or Space moves there.
 * @param {{game: Game, board: number[], position: Position | null, search: Search | null, pending: number | null,
 *   player: number, isOpen: boolean, choose: (action: number | null) => void}} props
 *   `pending`: the move that Python has not answered yet, by `player`; `isOpen`: the visitor may move
 */
export function GameGrid({ game, board, position, search, pending, player, isOpen, choose }) {
  const { rows, columns } = game;
  const [focused, setFocused] = useState(middle(rows, columns));
  const grid = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => setFocused(middle(rows, columns)), [rows, columns]);
  const moves = cellsOfMoves(game, board);
  const { heat } = choices.value;
  const labels = coordinates(game);
  const least = leastNumbered(search, [...moves.values()], heat);

  function onKeyDown(/** @type {KeyboardEvent} */ event) {
    const at = game.at[focused];
    if ((event.key === "Enter" || event.key === " ") && !event.repeat) choose(at);
    const to = step(event.key, focused, rows, columns);
    if (to === null && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (to === null) return;
    setFocused(to);
    /** @type {HTMLElement | null | undefined} */ (
      grid.current?.querySelector(`[data-cell="${to}"]`)
    )?.focus();
  }

  const cell = (/** @type {number} */ at) => {
    const action = moves.get(at);
    const stone = board[at];
    const click = game.at[at];
    const isLegal = click !== null && (position?.legal.includes(click) ?? pending === null);
    const number = search && isLegal && action !== undefined ? heatOf(search, action, heat) : null;
    const isPending = pending !== null && action === pending;
    const owner = isPending ? player + 1 : stone;
    const text = number === null || isPending ? "" : numberOf(search, action, heat);
    const strength = Math.min(1, Math.abs(number ?? 0)) || 0;
    return html`<div key=${at} role="gridcell" class="play-cell" data-cell=${at} data-testid=${`play-cell-${at}`} tabindex=${at === focused ? 0 : -1}
      data-stone=${owner || undefined} data-pending=${isPending ? "" : undefined} data-last=${at === position?.placed ? "" : undefined}
      data-changed=${position?.changed.includes(at) ? "" : undefined} data-pointed=${action !== undefined && action === pointedAt.value ? "" : undefined}
      data-open=${isOpen && isLegal ? "" : undefined} data-sign=${text === "" ? undefined : number !== null && number < 0 ? "minus" : "plus"}
      data-edge=${edges(at, rows, columns)} style=${{ "--heat": `${Math.round(70 * strength)}%` }}
      aria-label=${label(game, position, at, owner, text)} aria-disabled=${isOpen && isLegal ? undefined : "true"}
      onFocus=${() => setFocused(at)} onClick=${() => choose(click)}
      >${owner ? html`<${Stone} look=${lookOf(game)} owner=${owner} />` : html`<span class="play-number">${strength < least ? "" : text}</span>`}</div>`;
  };

  return html`
    <div class="play-frame" data-labels=${labels ? "" : undefined} style=${{ "--columns": columns, "--rows": rows }}>
      ${labels?.down && html`<div class="play-down" aria-hidden="true">${labels.down.map((each) => html`<span key=${each}>${each}</span>`)}</div>`}
      ${labels && html`<div class="play-across" aria-hidden="true">${labels.across.map((each) => html`<span key=${each}>${each}</span>`)}</div>`}
      <div class="play-board" role="grid" aria-label=${t().game.board(rows, columns)} data-testid="play-board" data-look=${lookOf(game)}
        aria-rowcount=${rows} aria-colcount=${columns} ref=${grid} onKeyDown=${onKeyDown}>
        ${Array.from({ length: rows }, (_, row) => html`<div key=${row} role="row" class="play-row">${Array.from({ length: columns }, (_, column) => cell(row * columns + column))}</div>`)}
      </div>
    </div>
  `;
}

const middle = (/** @type {number} */ rows, /** @type {number} */ columns) =>
  Math.floor(rows / 2) * columns + Math.floor(columns / 2);

/** The cell that a key leads to; null for another key. @param {string} key @param {number} from @param {number} rows @param {number} columns */
export function step(key, from, rows, columns) {
  const [row, column] = [Math.floor(from / columns), from % columns];
  switch (key) {
    case "ArrowLeft":
      return column > 0 ? from - 1 : from;
    case "ArrowRight":
      return column < columns - 1 ? from + 1 : from;
    case "ArrowUp":
      return row > 0 ? from - columns : from;
    case "ArrowDown":
      return row < rows - 1 ? from + columns : from;
    case "Home":
      return from - column;
    case "End":
      return from - column + columns - 1;
    default:
      return null;
  }
}

/** The sides of the board on which a cell lies: its lines end there. @param {number} at @param {number} rows @param {number} columns */
function edges(at, rows, columns) {
  const [row, column] = [Math.floor(at / columns), at % columns];
  const sides = {
    top: row === 0,
    bottom: row === rows - 1,
    left: column === 0,
    right: column === columns - 1,
  };
  return (
    Object.entries(sides)
      .flatMap(([side, isThere]) => (isThere ? [side] : []))
      .join(" ") || undefined
  );
}

/** @param {Search | null} search @param {number | undefined} action @param {import("./match.js").Heat} heat */
function numberOf(search, action, heat) {
  if (!search || action === undefined) return "";
  if (heat === "policy") {
    const hundredths = Math.round(100 * search.prior[action]);
    return hundredths > 0 ? `${hundredths}` : "";
  }
  if (heat === "visits") return search.visits[action] > 0 ? `${search.visits[action]}` : "";
  return heat === "q" && search.visits[action] > 0
    ? signed(search.q[action]).replace("0.", ".")
    : "";
}

/** @param {Game} game @param {Position | null} position @param {number} at @param {number} owner @param {string} text */
function label(game, position, at, owner, text) {
  const words = t().game;
  const place =
    coordinates(game)?.down && game.at[at] !== null
      ? actionName(game, game.at[at])
      : words.place(Math.floor(at / game.columns) + 1, (at % game.columns) + 1);
  const content = owner ? stoneName(game, owner - 1) : words.free;
  const number =
    text && words.numbers[/** @type {"policy" | "visits" | "q"} */ (choices.value.heat)](text);
  const isLast = at === position?.placed;
  return [`${place}: ${content}`, number, isLast && words.last].filter(Boolean).join(", ");
}

/** @param {{look: import("./cells.js").Look, owner: number}} props */
function Stone({ look, owner }) {
  if (look === "marks")
    return html`<svg class="play-mark" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      ${owner === 1 ? html`<path d="m4.5 4.5 11 11m0-11-11 11" />` : html`<circle cx="10" cy="10" r="5.8" />`}</svg>`;
  return html`<svg class="play-stone" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <circle cx="10" cy="10" r="9" />${look === "drop" && owner === 2 && html`<circle class="play-ring" cx="10" cy="10" r="5" />`}</svg>`;
}
