import { html } from "../../vendor/preact.js";

/** Outlines on a grid of 16 by 16. */
const PATHS = {
  run: "M4.5 2.8v10.4L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  resume: "M3 3h2.4v10H3zM7.4 3v10L14 8z",
  step: "M3 3v10l6.5-5zM11 3h2.4v10H11z",
  stop: "M3.5 3.5h9v9h-9z",
  reset: "M8 3a5 5 0 1 1-4.6 3l1.4.6A3.5 3.5 0 1 0 8 4.5V7L4 3.8 8 .8z",
  light: "M8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8zM7.3.6h1.4v2.3H7.3zm0 12.5h1.4v2.3H7.3zM.6 7.3h2.3v1.4H.6zm12.5 0h2.3v1.4h-2.3zM2.3 3.3l1-1 1.6 1.6-1 1zm8.8 8.8 1-1 1.6 1.6-1 1zM3.3 13.7l-1-1 1.6-1.6 1 1zm8.8-8.8-1-1 1.6-1.6 1 1z",
  dark: "M6.2 1.6a6.6 6.6 0 1 0 8.2 8.6A5.4 5.4 0 0 1 6.2 1.6z",
  save: "M7.3 1.5h1.4v6.3l2.2-2.2 1 1L8 10.5 4.1 6.6l1-1 2.2 2.2zM2 12.5h12V14H2z",
  open: "M8 1 4.1 4.9l1 1 2.2-2.2V10h1.4V3.7l2.2 2.2 1-1zM2 12.5h12V14H2z",
  history: "M8 2a6 6 0 1 1-5.9 7h1.5A4.5 4.5 0 1 0 4.6 5H7v1.5H2v-5h1.5v2.4A6 6 0 0 1 8 2zm-.7 3h1.4v2.8l2 1.2-.7 1.2-2.7-1.6z",
  plus: "M7.2 3h1.6v4.2H13v1.6H8.8V13H7.2V8.8H3V7.2h4.2z",
  minus: "M3 7.2h10v1.6H3z",
  fit: "M2 2h4v1.5H3.5V6H2zm8 0h4v4h-1.5V3.5H10zM2 10h1.5v2.5H6V14H2zm10.5 0H14v4h-4v-1.5h2.5z",
  fold: "M2 3h12v1.5H2zm3 4.2h6v1.6H5zM2 11.5h12V13H2z",
  close: "m4 3 4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
};

/** @param {{name: keyof typeof PATHS}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} />
  </svg>`;
}
