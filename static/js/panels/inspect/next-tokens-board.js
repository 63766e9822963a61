import { html, useState } from "../../../vendor/preact.js";
import { TokenBar } from "../../components/token-bar.js";
import { percent } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { marked, visible } from "../../words/tokens.js";

/** @import { Expecting } from "./inspect-next-tokens.js" */

/** Tokens that are repeated before the one that is read. */
const MOST_BEFORE = 24;

/** The text, shaded by the network's probabilities, and its expectations at the chosen position. @param {{view: Expecting}} props */
export function NextTokensBoard({ view }) {
  const { tokens, predictions, unit } = view;
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const at = Math.min(chosen ?? Infinity, predictions.length - 1);
  const words = t().inspectNext;
  const id = (/** @type {number} */ each) => `next-token-${each}`;

  /** @param {KeyboardEvent} event */
  function press(event) {
    const next = /** @type {Record<string, number>} */ ({
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: predictions.length - 1,
    })[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setChosen(Math.max(0, Math.min(predictions.length - 1, next)));
  }

  return html`
    <div class="next-text" data-unit=${unit}>
      ${tokens.slice(0, predictions[0].position + 1).map((token, each) => html`<span key=${each} class="next-begin">${marked(token)}</span>`)}
      <span role="listbox" tabindex="0" class="next-tokens" aria-label=${words.board(unit)} aria-orientation="horizontal"
        aria-activedescendant=${id(at)} data-testid="next-tokens" onKeyDown=${press}>${predictions.map(
          ({ came }, each) => html`
          <span key=${each} id=${id(each)} role="option" class="next-token" data-testid="next-token" aria-selected=${each === at}
            aria-label=${came ? words.option(visible(came.token), percent(came.chance, 1), came.rank) : words.end}
            data-missed=${came && came.rank > 1 ? "" : undefined} data-end=${came ? undefined : ""}
            style=${{ "--chance": came?.chance ?? 0 }} onClick=${() => setChosen(each)}>${came ? marked(came.token) : "?"}</span>`,
        )}
      </span>
    </div>
    <${Expected} view=${view} at=${at} />
  `;
}

/** The most probable tokens at a position, and the one that came. @param {{view: Expecting, at: number}} props */
function Expected({ view: { tokens, predictions, unit }, at }) {
  const words = t().inspectNext;
  const { position, top, came } = predictions[at];
  const first = Math.max(0, position + 1 - MOST_BEFORE);
  const before = tokens
    .slice(first, position + 1)
    .map(marked)
    .join(unit === "word" ? " " : "");
  const isListed = came !== null && came.rank <= top.length;
  return html`
    <section class="next-expected" aria-labelledby="next-expected-title">
      <h3 id="next-expected-title">${words.after(unit)} <span class="next-before">${first > 0 ? "…" : ""}${before}</span></h3>
      <p class="next-reading" role="status" data-testid="next-reading">${
        came
          ? words.came(visible(came.token), percent(came.chance, 1), came.rank)
          : words.nothingCame
      }</p>
      <ol class="probabilities sample-expected" data-testid="next-expected">
        ${top.map(
          (
            { token, chance },
            each,
          ) => html`<${TokenBar} key=${each} token=${token} chance=${chance} isBest=${each + 1 === came?.rank}
          rank=${each + 1} note=${each + 1 === came?.rank ? words.this : ""} />`,
        )}
        ${came && !isListed && html`<${TokenBar} token=${came.token} chance=${came.chance} isBest=${true} rank=${came.rank} note=${words.this} />`}
      </ol>
    </section>
  `;
}
