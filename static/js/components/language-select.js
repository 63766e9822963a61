import { html } from "../../vendor/preact.js";
import { LANGUAGES, choose, language, t } from "../words/locale.js";
import * as store from "../state/store.js";
import { Icon } from "./icons.js";

/** The languages of the page, each by its own name, behind an icon. */
export const LanguageSelect = () => html`
  <label class="button quiet icon-only language-choice" title=${t().header.language}>
    <${Icon} name="language" />
    <${LanguageField} />
  </label>
`;

/** The languages of the page, each by its own name. */
export function LanguageField() {
  /** @param {any} event */
  async function change({ target }) {
    try {
      await choose(target.value);
    } catch (failure) {
      target.value = language.value;
      store.note(t().header.languageFailed(/** @type {Error} */ (failure).message));
    }
  }

  return html`
    <select data-testid="language-select" aria-label=${t().header.language} value=${language.value} onChange=${change}>
      ${Object.entries(LANGUAGES).map(([tag, name]) => html`<option key=${tag} value=${tag} lang=${tag} selected=${tag === language.value}>${name}</option>`)}
    </select>
  `;
}
