import { html } from "../../../vendor/preact.js";

/** Points of one arm of a spiral. @param {number} turn radians */
const arm = (turn) =>
  Array.from({ length: 16 }, (_, index) => {
    const radius = 3 + 1.45 * index;
    const angle = turn + index / 3.4;
    return { x: 60 + radius * Math.cos(angle), y: 28 + radius * Math.sin(angle) };
  });

/** @param {number} turn @param {string} kind */
const dots = (turn, kind) =>
  arm(turn).map(
    ({ x, y }, index) =>
      html`<circle key=${`${kind}${index}`} class=${kind} cx=${x.toFixed(1)} cy=${y.toFixed(1)} r="2" />`,
  );

/** @param {[number, number, number, string][]} bars */
const bars = (bars) =>
  bars.map(
    ([x, y, width, kind]) =>
      html`<rect key=${`${x} ${y}`} class=${kind} x=${x} y=${y} width=${width} height="9" rx="2" />`,
  );

const PICTURES = {
  digit: html`<rect class="dark" x="38" y="6" width="44" height="44" rx="5" />
    <path class="chalk" d="M51 17c5-6 17-4 16 3-1 5-6 6-9 6 5 0 11 2 10 8-1 8-14 9-19 2" />`,
  spiral: html`${dots(0, "fill-0")}${dots(Math.PI, "fill-1")}`,
  text: html`<text class="letters" x="14" y="26">five, six,</text><text class="letters learned" x="14" y="43">pick up st</text>
    <rect class="fill-2" x="86" y="32" width="6" height="13" />`,
  game: html`<path class="lines" d="M51 8v40M69 8v40M40 19h40M40 37h40" /><path class="stroke-0" d="m42 10 7 7m0-7-7 7m11 6 10 10m0-10-10 10m18 6 7 7m0-7-7 7" />
    <circle class="stroke-1" cx="75" cy="13" r="4.5" /><circle class="stroke-1" cx="45" cy="28" r="4.5" />`,
  code: html`<rect class="dark" x="20" y="6" width="80" height="44" rx="5" /><path class="chalk" d="m31 20 8 8-8 8M46 37h14" />`,
  table: html`<path class="lines" d="M26 9h68v38H26zM26 19h68M26 28.5h68M26 38h68M49 9v38M72 9v38" />
    <rect class="fill-0" x="29" y="12.5" width="14" height="3.5" rx="1" /><rect class="fill-0" x="52" y="12.5" width="14" height="3.5" rx="1" />
    <rect class="fill-1" x="75" y="12.5" width="14" height="3.5" rx="1" /><circle class="fill-1" cx="83" cy="24" r="2.6" />
    <circle class="fill-2" cx="83" cy="33.5" r="2.6" /><circle class="fill-1" cx="83" cy="43" r="2.6" />`,
  photos: html`<rect class="lines" x="30" y="8" width="38" height="30" rx="3" /><path class="fill-2" d="m32 36 10-13 7 8 5-5 12 10z" />
    <circle class="fill-1" cx="58" cy="17" r="4" /><rect class="dark" x="52" y="20" width="38" height="30" rx="3" />
    <path class="fill-0" d="m54 48 11-14 8 9 5-6 10 11z" /><circle class="fill-1" cx="80" cy="29" r="4" />`,
  points: html`${[
    [38, 20],
    [46, 12],
    [55, 20],
    [44, 30],
    [52, 36],
    [34, 34],
  ].map(([x, y]) => html`<circle key=${`${x} ${y}`} class="fill-0" cx=${x} cy=${y} r="2.6" />`)}
    ${[
      [72, 12],
      [84, 18],
      [70, 40],
      [80, 46],
      [90, 34],
      [78, 28],
    ].map(
      ([x, y]) =>
        html`<rect key=${`${x} ${y}`} class="fill-1" x=${x} y=${y} width="5" height="5" />`,
    )}
    <path class="lines" d="M62 4c8 14-6 22 0 48" />`,
  devices: bars([
    [14, 14, 30, "fill-0"],
    [48, 14, 28, "fill-0"],
    [80, 14, 26, "fill-0"],
    [14, 32, 52, "fill-1"],
    [70, 32, 36, "fill-1"],
  ]),
};

/** @typedef {keyof typeof PICTURES} PictureName */

/** A picture of the subject of an example. @param {{name: PictureName}} props */
export function GalleryPicture({ name }) {
  return html`<svg class="gallery-picture" viewBox="0 0 120 56" aria-hidden="true" focusable="false">${PICTURES[name]}</svg>`;
}
