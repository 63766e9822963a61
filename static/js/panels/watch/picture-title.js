import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/**
 * The title of the main picture, which is a choice if there are others.
 * @param {{title: string, names: string[], picture: string, titleOf: (name: string) => string, hasChosen: {current: boolean}}} props
 *   `hasChosen`: whether the visitor has just chosen it: its head is another element than the last, and takes the focus
 */
export function PictureTitle({ title, names, picture, titleOf, hasChosen }) {
  const choice = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (hasChosen.current) choice.current?.focus();
    hasChosen.current = false;
  }, [picture]);
  function choose(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) {
    hasChosen.current = true;
    const id = store.exampleId.value;
    const chosen = Object.entries(store.pictures.value).filter(([each]) => each !== id);
    const isOwn = currentTarget.value === names[0];
    store.pictures.value = Object.fromEntries(
      isOwn ? chosen : [...chosen, [id, currentTarget.value]],
    );
  }
  const isAlone = names.length < 2;
  return html`
    <h2 id="picture-title" class=${isAlone ? undefined : "visually-hidden"}>${title}</h2>
    ${
      !isAlone &&
      html`<select class="picture-choice" data-testid="picture-choice" aria-label=${t().task.choice} title=${t().task.choice} ref=${choice}
      onChange=${choose}>
      ${names.map((name) => html`<option key=${name} value=${name} selected=${name === picture}>${titleOf(name)}</option>`)}
    </select>`
    }
  `;
}
