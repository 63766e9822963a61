import { html } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { theme, toggleTheme } from "../frame/theme.js";
import { Icon } from "./icons.js";

/** Changes between the light and the dark theme. @param {{isNamed?: boolean}} props `isNamed`: with its name beside the icon */
export function ThemeButton({ isNamed = false }) {
  const next = theme.value === "dark" ? "light" : "dark";
  const name = t().header.useTheme[next];
  return html`<button type="button" class=${isNamed ? "button quiet" : "button quiet icon-only"} data-testid="theme-toggle"
    aria-label=${name} title=${name} onClick=${toggleTheme}><${Icon} name=${next} />${isNamed && html`<span>${name}</span>`}</button>`;
}
