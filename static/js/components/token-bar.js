import { html } from "../../vendor/preact.js";
import { percent } from "../words/format.js";
import { visible } from "../words/tokens.js";

/**
 * A token with a bar as long as its probability.
 * @param {{token: string, chance: number, isBest: boolean, rank?: number, note?: string}} props `note`: beside the token
 */
export function TokenBar({ token, chance, isBest, rank, note }) {
  return html`
    <li class="probability" data-best=${isBest ? "" : undefined}>
      ${rank !== undefined && html`<span class="probability-rank">${rank}</span>`}
      <span class="probability-digit">${visible(token)}</span>
      <span class="probability-track" aria-hidden="true">
        <span class="probability-fill" style=${{ transform: `scaleX(${chance})` }}></span>
      </span>
      <span class="probability-value">${percent(chance, 1)}</span>
      ${note !== undefined && html`<span class="probability-note">${note}</span>`}
    </li>
  `;
}
