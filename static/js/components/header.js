import { html } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { descriptionOf, isReplaced, titleInList } from "../gallery/example-titles.js";
import { selectExample } from "../gallery/examples.js";
import { openExamples } from "../gallery/opening.js";
import { isPhone } from "../frame/layout.js";
import { t } from "../words/locale.js";
import { ProjectMenu } from "../session/project-menu.js";
import { ShareMenu } from "../sharing/share-menu.js";
import * as store from "../state/store.js";
import { DeviceChip } from "./backend-badge.js";
import { DocsLink } from "./docs-link.js";
import { ExportMenu } from "./export-menu.js";
import { Icon } from "./icons.js";
import { LanguageSelect } from "./language-select.js";
import { MoreMenu } from "./more-menu.js";
import { ThemeButton } from "./theme-button.js";

/** Name, project, example, sharing, files, device, language and theme. On a phone, all but the first four and the device are in a menu. */
export function Header() {
  const example = store.example.value;
  const codes = store.codes.value;
  const description =
    example && !isReplaced(example, codes[example.id]) ? descriptionOf(example) : "";
  return html`
    <header class="header">
      <h1 class="brand">
        <img src=${urlOf("/static/favicon.svg")} alt="" width="24" height="24" />playgrad
      </h1>
      <${ProjectMenu} />
      <label class="example-choice">
        <span class="visually-hidden">${t().header.example}</span>
        <select
          data-testid="example-select"
          value=${store.exampleId.value}
          title=${example ? titleInList(example, codes[example.id]) : ""}
          onChange=${(/** @type {any} */ event) => selectExample(event.target.value)}
        >
          ${store.examples.value.map(
            (each) => html`
            <option key=${each.id} value=${each.id} selected=${each.id === store.exampleId.value}>${titleInList(each, codes[each.id])}</option>
          `,
          )}
        </select>
      </label>
      ${
        !isPhone.value &&
        html`<button type="button" class="button quiet icon-only all-examples" data-testid="all-examples" aria-haspopup="dialog"
        aria-label=${t().gallery.all.title} title=${t().gallery.all.title} onClick=${openExamples}><${Icon} name="examples" /></button>`
      }
      <p class="example-description" title=${description}>${description}</p>
      <${ShareMenu} />
      ${!isPhone.value && html`<${ExportMenu} />`}
      <${DeviceChip} />
      ${
        isPhone.value
          ? html`<${MoreMenu} />`
          : html`
        <${DocsLink} class="docs-link" />
        <${LanguageSelect} />
        <${ThemeButton} />
      `
      }
    </header>
  `;
}
