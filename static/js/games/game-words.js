/** How a game stands, in sentences. */

import { t } from "../words/locale.js";
import { lookOf } from "./cells.js";

/**
 * @import { Game, GameView } from "../../engine/messages.js"
 * @import { Match, Player } from "./match.js"
 */

/** What the stones of a player are called: X, black, red. @param {Game} game @param {number} player 0 or 1 */
export function stoneName(game, player) {
  const { stones } = t().game;
  const look = lookOf(game);
  return (look === "marks" ? stones.marks : look === "drop" ? stones.discs : stones.colours)[
    player
  ];
}

/** The name of a move in the language of the page. @param {Game} game @param {number} action */
export function actionName({ actions, passes }, action) {
  const words = t().game;
  if (action === passes) return words.pass;
  const [, number] = /^column (\d+)$/.exec(actions[action]) ?? [];
  return number ? words.column(number) : actions[action];
}

/** Why Python has refused a move. @param {GameView} view */
export function whyNot({ game, refused }) {
  if (!refused) return "";
  const [, reason] = / is not legal, (.+)\.$/.exec(refused.why) ?? [];
  return reason ? t().game.refused(actionName(game, refused.action), reason) : refused.why;
}

/** The last move and whose turn it is, or how the game ended. @param {GameView} view @param {Match} match @param {boolean} hasNetwork */
export function standing(view, match, hasNetwork) {
  const { position } = view;
  const last = lastMove(view, match, hasNetwork);
  if (position.result !== null) return `${last}${end(view, match, hasNetwork)}`;
  const words = t().game;
  const [turn] = position.turns.slice(-1);
  if (match.visitor === null) return last.trimEnd() || words.begins(stoneName(view.game, turn));
  const mine = stoneName(view.game, match.visitor);
  if (turn !== match.visitor) return `${last}${words.thinks(hasNetwork)}`;
  const mustPass = position.legal.length === 1 && position.legal[0] === view.game.passes;
  return `${last}${mustPass ? words.mustPass : words.yourTurn(mine)}`;
}

/** @param {GameView} view @param {Match} match @param {boolean} hasNetwork */
function lastMove({ game, position }, { visitor }, hasNetwork) {
  const { actions, turns, changed } = position;
  const words = t().game;
  if (actions.length === 0) return "";
  const by = turns[actions.length - 1];
  const action = actions[actions.length - 1];
  const who = visitor === null ? stoneName(game, by) : by === visitor ? null : "";
  const moved =
    action === game.passes
      ? words.passed(who, hasNetwork)
      : words.moved(who, actionName(game, action), hasNetwork);
  const turned = lookOf(game) === "points" ? words.captured : words.turned;
  return `${moved}${changed.length > 0 ? turned(changed.length) : ""}${words.stop}`;
}

/** @param {GameView} view @param {Match} match @param {boolean} hasNetwork */
function end({ game, position }, { visitor }, hasNetwork) {
  const words = t().game;
  const result = position.result ?? 0;
  if (result === 0) return words.draw;
  const winner = /** @type {Player} */ (result > 0 ? 0 : 1);
  if (visitor === null) return words.won(stoneName(game, winner));
  return winner === visitor ? words.youWon : words.itWon(hasNetwork);
}

/** A number between −1 and 1. @param {number} value */
export const signed = (value) =>
  `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`.replace(/^−0\.00$/, "+0.00");
