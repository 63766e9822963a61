import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { actionName, signed, stoneName } from "./game-words.js";
import { match } from "./match.js";

/** @import { Game, Search } from "../../engine/messages.js" */

/**
 * The result that the network expects for the visitor, or for the player who began, as a bar between lost and won, and
 * the moves that it expects.
 * @param {{game: Game, search: Search | null, turn: number, result: number | null}} props
 */
export function ValueBar({ game, search, turn, result }) {
  const { visitor } = match.value;
  const of = visitor ?? 0;
  const value =
    result === null
      ? search && (turn === of ? search.value : -search.value)
      : of === 0
        ? result
        : -result;
  const words = t().game;
  const who = visitor === null ? stoneName(game, 0) : null;
  const title = result === null ? words.expects(who) : words.ended(who);
  return html`
    <div class="play-value" data-testid="play-value" title=${words.about.value}>
      <span>${title}</span>
      <span class="play-value-bar" aria-hidden="true" data-sign=${value === null ? undefined : value < 0 ? "minus" : "plus"}
        style=${{ "--from": `${50 + 50 * Math.min(0, value ?? 0)}%`, "--part": `${50 * Math.abs(value ?? 0)}%` }}></span>
      <b>${value === null ? "–" : signed(value)}</b>
    </div>
    <p class="play-line" data-testid="play-line"><span>${words.line}</span> ${
      search && search.line.length > 0
        ? search.line.map(
            (action, at) =>
              html`<span key=${at} class="play-line-move"><span class="play-tree-stone" data-owner=${((turn + at) % 2) + 1}></span>${actionName(game, action)}</span>`,
          )
        : "–"
    }</p>
  `;
}
