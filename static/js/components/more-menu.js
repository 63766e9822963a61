import { html } from "../../vendor/preact.js";
import { openExamples } from "../gallery/opening.js";
import { t } from "../words/locale.js";
import { GpuAgain } from "./backend-badge.js";
import { DocsLink } from "./docs-link.js";
import { ExportFiles } from "./export-menu.js";
import { Icon } from "./icons.js";
import { LanguageField } from "./language-select.js";
import { Menu } from "./menu.js";
import { ThemeButton } from "./theme-button.js";

/** What the header of a phone has no room for: the gallery of all examples, the language, the theme, the files to save, the documentation, and another look for a GPU. */
export function MoreMenu() {
  return html`<${Menu} id="more" title=${t().header.more} icon="more" about=${t().header.moreAbout} content=${Choices} />`;
}

/** @param {{close: () => void}} props */
const Choices = ({ close }) => html`
  <div class="more-choices">
    <button type="button" class="button small" data-testid="all-examples" aria-haspopup="dialog" onClick=${() => {
      close();
      openExamples();
    }}><${Icon} name="examples" />${t().gallery.all.title}</button>
    <${GpuAgain} after=${close} />
    <label class="more-choice"><span>${t().header.language}</span><${LanguageField} /></label>
    <${ThemeButton} isNamed />
    <details class="more-files">
      <summary data-testid="more-export" title=${t().exporting.about}>${t().exporting.title}</summary>
      <${ExportFiles} />
    </details>
    <${DocsLink} />
  </div>
`;
