import { html } from "../../vendor/preact.js";

/** Points of one arm of a spiral. @param {number} turn radians */
const arm = (turn) => Array.from({ length: 16 }, (_, index) => {
  const radius = 3 + 1.45 * index;
  const angle = turn + index / 3.4;
  return { x: 60 + radius * Math.cos(angle), y: 28 + radius * Math.sin(angle) };
});

/** @param {number} turn @param {string} kind */
const dots = (turn, kind) => arm(turn).map(({ x, y }, index) =>
  html`<circle key=${`${kind}${index}`} class=${kind} cx=${x.toFixed(1)} cy=${y.toFixed(1)} r="2" />`);

/** @param {[number, number, number, string][]} bars */
const bars = (bars) => bars.map(([x, y, width, kind]) =>
  html`<rect key=${`${x} ${y}`} class=${kind} x=${x} y=${y} width=${width} height="9" rx="2" />`);

const PICTURES = {
  digit: html`<rect class="dark" x="38" y="6" width="44" height="44" rx="5" />
    <path class="chalk" d="M51 17c5-6 17-4 16 3-1 5-6 6-9 6 5 0 11 2 10 8-1 8-14 9-19 2" />`,
  spiral: html`${dots(0, "fill-0")}${dots(Math.PI, "fill-1")}`,
  shapes: html`<rect class="dark" x="20" y="6" width="80" height="44" rx="5" /><circle class="fill-2" cx="45" cy="27" r="12" />
    <rect class="fill-1" x="66" y="16" width="21" height="21" />`,
  text: html`<text class="letters" x="14" y="26">five, six,</text><text class="letters learned" x="14" y="43">pick up st</text>
    <rect class="fill-2" x="86" y="32" width="6" height="13" />`,
  game: html`<path class="lines" d="M51 8v40M69 8v40M40 19h40M40 37h40" /><path class="stroke-0" d="m42 10 7 7m0-7-7 7m11 6 10 10m0-10-10 10m18 6 7 7m0-7-7 7" />
    <circle class="stroke-1" cx="75" cy="13" r="4.5" /><circle class="stroke-1" cx="45" cy="28" r="4.5" />`,
  code: html`<rect class="dark" x="20" y="6" width="80" height="44" rx="5" /><path class="chalk" d="m31 20 8 8-8 8M46 37h14" />`,
  devices: bars([[14, 14, 30, "fill-0"], [48, 14, 28, "fill-0"], [80, 14, 26, "fill-0"], [14, 32, 52, "fill-1"], [70, 32, 36, "fill-1"]]),
};

/** @typedef {keyof typeof PICTURES} PictureName */

/** A picture of what an example is about. @param {{name: PictureName}} props */
export function GalleryPicture({ name }) {
  return html`<svg class="gallery-picture" viewBox="0 0 120 56" aria-hidden="true" focusable="false">${PICTURES[name]}</svg>`;
}
