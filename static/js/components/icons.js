import { html } from "../../vendor/preact.js";

/** Outlines on a grid of 16 by 16. */
const PATHS = {
  run: "M4.5 2.8v10.4L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  resume: "M3 3h2.4v10H3zM7.4 3v10L14 8z",
  step: "M3 3v10l6.5-5zM11 3h2.4v10H11z",
  stop: "M3.5 3.5h9v9h-9z",
  reset: "M8 3a5 5 0 1 1-4.6 3l1.4.6A3.5 3.5 0 1 0 8 4.5V7L4 3.8 8 .8z",
  light:
    "M8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8zM7.3.6h1.4v2.3H7.3zm0 12.5h1.4v2.3H7.3zM.6 7.3h2.3v1.4H.6zm12.5 0h2.3v1.4h-2.3zM2.3 3.3l1-1 1.6 1.6-1 1zm8.8 8.8 1-1 1.6 1.6-1 1zM3.3 13.7l-1-1 1.6-1.6 1 1zm8.8-8.8-1-1 1.6-1.6 1 1z",
  dark: "M6.2 1.6a6.6 6.6 0 1 0 8.2 8.6A5.4 5.4 0 0 1 6.2 1.6z",
  save: "M7.3 1.5h1.4v6.3l2.2-2.2 1 1L8 10.5 4.1 6.6l1-1 2.2 2.2zM2 12.5h12V14H2z",
  open: "M8 1 4.1 4.9l1 1 2.2-2.2V10h1.4V3.7l2.2 2.2 1-1zM2 12.5h12V14H2z",
  project: "M1.5 3h4.9l1.5 1.6h6.6v8.9h-13zm1.4 1.4v7.7h10.2V6H7.3L5.8 4.4z",
  plus: "M7.2 3h1.6v4.2H13v1.6H8.8V13H7.2V8.8H3V7.2h4.2z",
  minus: "M3 7.2h10v1.6H3z",
  fit: "M2 2h4v1.5H3.5V6H2zm8 0h4v4h-1.5V3.5H10zM2 10h1.5v2.5H6V14H2zm10.5 0H14v4h-4v-1.5h2.5z",
  fold: "M2 3h12v1.5H2zm3 4.2h6v1.6H5zM2 11.5h12V13H2z",
  lock: "M5 7V5a3 3 0 0 1 6 0v2h1v7H4V7zm1.5 0h3V5a1.5 1.5 0 0 0-3 0z",
  code: "m5.6 3.8 1.1 1L3.2 8l3.5 3.2-1.1 1L1 8zm4.8 0L15 8l-4.6 4.2-1.1-1L12.8 8 9.3 4.8z",
  down: "m3 6 1.1-1.1L8 8.8l3.9-3.9L13 6l-5 5z",
  up: "m3 10 1.1 1.1L8 7.2l3.9 3.9L13 10 8 5z",
  pin: "M5 1.5h6V3l-1 .8v3.4l2 2.3v1.2H8.7V15H7.3v-4.3H4V9.5l2-2.3V3.8L5 3z",
  share:
    "M12 1.5a2.2 2.2 0 1 1-1.7 3.6L6 7.4a2.3 2.3 0 0 1 0 1.2l4.3 2.3a2.2 2.2 0 1 1-.7 1.3L5.3 9.9a2.2 2.2 0 1 1 0-3.8l4.3-2.3a2.2 2.2 0 0 1 2.4-2.3z",
  grip: "M5 3h2v2H5zm4 0h2v2H9zM5 7h2v2H5zm4 0h2v2H9zm-4 4h2v2H5zm4 0h2v2H9z",
  copy: "M2 2h8.5v2.5H14V14H5.5v-3.5H2zm1.4 1.4v5.7h5.7V3.4zm7.1 2.5v4.6H6.9v2.1h5.7V5.9z",
  remove: "M6 1.5h4l.6 1.3H14v1.4H2V2.8h3.4zM3.4 5.4h9.2l-.8 9.1H4.2zm1.5 1.4.6 6.3h5l.6-6.3z",
  table:
    "M2 2h12v12H2zm1.4 1.4v2.2h3.3V3.4zm4.7 0v2.2h4.5V3.4zM3.4 7v2.1h3.3V7zm4.7 0v2.1h4.5V7zm-4.7 3.5v2.1h3.3v-2.1zm4.7 0v2.1h4.5v-2.1z",
  question:
    "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zm0 1.4a5.6 5.6 0 1 0 0 11.2A5.6 5.6 0 0 0 8 2.4zM7.2 10.8h1.6v1.6H7.2zM8 3.8c1.6 0 2.7 1 2.7 2.4 0 1.1-.6 1.7-1.3 2.2-.5.4-.7.6-.7 1.3H7.3c0-1.3.6-1.9 1.2-2.4.5-.4.7-.6.7-1.1 0-.6-.5-1-1.2-1s-1.2.5-1.2 1.2H5.3c0-1.6 1.1-2.6 2.7-2.6z",
  language:
    "M1 3h4V1.3h1.5V3h4v1.4H9.1C8.7 6 8 7.3 7 8.4l1.4 1.2-.6 1.4L6 9.3c-1 .9-2.2 1.6-3.6 2.1L1.8 10c1.3-.4 2.3-1 3.2-1.8-.8-.9-1.4-1.8-1.8-2.8h1.6c.3.6.7 1.2 1.2 1.8.7-.8 1.2-1.8 1.5-2.8H1zM11 6.6h1.5l3 8H14l-.7-1.9h-3.1l-.7 1.9H8zM10.7 11.3h2.1L11.75 8.4z",
  more: "M2 6.6h2.8v2.8H2zm4.6 0h2.8v2.8H6.6zm4.6 0H14v2.8h-2.8z",
  examples:
    "M2 2h5.3v5.3H2zm1.4 1.4v2.5h2.5V3.4zm5.3-1.4H14v5.3H8.7zm1.4 1.4v2.5h2.5V3.4zM2 8.7h5.3V14H2zm1.4 1.4v2.5h2.5v-2.5zm5.3-1.4H14V14H8.7zm1.4 1.4v2.5h2.5v-2.5z",
  several:
    "M1.5 12.5c2.5 0 3-9 6-9s3 6 7 6v1.5c-5 0-5.500-6-7-6S6 14 1.500 14zM1.500 9c3 0 4-2.500 13-4v1.500C6 7.500 5 10.500 1.500 10.500z",
  close: "m4 3 4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
};

/** One of the icons of the page, or another outline. @param {{name: keyof typeof PATHS} | {outline: string}} props */
export function Icon(props) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d=${"outline" in props ? props.outline : PATHS[props.name]} />
  </svg>`;
}
