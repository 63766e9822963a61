import { html } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { isListed, leftProblems } from "../editor/editor-bridge.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";

/** What a program has of other libraries and playgrad does not: each line, and the nearest way. */
export function LeftProblems() {
  const error = store.error.value;
  const left = leftProblems.value;
  const isOfError = error?.line && left.some(({ line }) => line === error.line);
  if (!left.length || !(isListed.value || isOfError)) return null;
  const words = t().errors;
  return html`
    <section class="left-problems" data-testid="left-problems" aria-label=${words.left.title(left.length)}>
      <div class="error-head">
        <strong>${words.left.title(left.length)}</strong>
        ${
          isListed.value &&
          html`
          <button type="button" class="button quiet icon-only" aria-label=${words.left.dismiss}
            onClick=${() => (isListed.value = false)}><${Icon} name="close" /></button>
        `
        }
      </div>
      <ul>
        ${left.map(
          ({ line, messages }) => html`
          <li key=${line}>
            <button type="button" class="link" onClick=${() => store.revealLine(line)}>${words.line(line)}</button>
            ${messages.map((message) => html`<p key=${message}>${message}</p>`)}
          </li>
        `,
        )}
      </ul>
    </section>
  `;
}
