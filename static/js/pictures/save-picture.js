/**
 * A part of the page as a picture: its texts, coloured boxes, drawings and canvases, in an SVG that
 * needs neither the page nor its style sheets. A PNG is drawn from that.
 */

import { offer } from "../files/download.js";
import { t } from "../words/locale.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 10;
/** Pixels of a PNG for each pixel of the page. */
const PNG_SCALE = 2;
/** The most pixels of a PNG, and of its longer side: Safari draws nothing on a larger canvas, and on phones others lack the memory. */
const MOST_PIXELS = 2 ** 24;
const MOST_PNG_SIDE = 16_384;

/** Pixels of a PNG that are drawn at a time, so that the page answers in between. */
const PIXELS_AT_ONCE = 2 ** 21;

/** What the style sheets may set of the shapes and texts of a drawing, with the initial values. */
const SHAPE = Object.entries({
  fill: "rgb(0, 0, 0)",
  stroke: "none",
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-linejoin": "miter",
  "stroke-linecap": "butt",
  "fill-opacity": "1",
  "stroke-opacity": "1",
});
const TEXT = [
  ...SHAPE,
  ...Object.entries({
    "font-family": "",
    "font-size": "",
    "font-weight": "400",
    "font-style": "normal",
    "text-anchor": "start",
    "dominant-baseline": "auto",
  }),
];
/** What is operated, or only heard. */
const LEFT_OUT =
  "button, input, select, label.toggle, .visually-hidden, [data-no-picture], script, style";

/** @typedef {{text: string, width: number, height: number}} Svg in pixels of the page */

/**
 * @param {Svg} svg
 * @param {string} name of the file, without its ending
 * @param {"png" | "svg"} format
 * @returns {Promise<number>} pixels of the file for each pixel of the page, 1 for an SVG
 */
export async function savePicture(svg, name, format) {
  if (format === "svg") {
    offer(`${name}.svg`, new Blob([svg.text], { type: "image/svg+xml" }));
    return 1;
  }
  const { width, height } = svg;
  const scale = Math.min(
    PNG_SCALE,
    MOST_PNG_SIDE / Math.max(width, height),
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
  offer(`${name}.png`, await pngOf(svg, scale));
  return scale;
}

/** A part of the page as it is now. @param {Element} element @returns {Svg} */
export function svgOf(element) {
  const frame = element.getBoundingClientRect();
  // The page may be zoomed by its style sheet.
  const origin = { x: frame.left - MARGIN, y: frame.top - MARGIN };
  const width = Math.ceil(frame.width + 2 * MARGIN);
  const height = Math.ceil(frame.height + 2 * MARGIN);
  const root = make("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(make("rect", { width, height, fill: backgroundOf(element) }));
  add(element, root, origin);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

/** @param {Svg} svg @param {number} scale @returns {Promise<Blob>} */
async function pngOf({ text, width, height }, scale) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(width * scale);
    canvas.height = Math.floor(height * scale);
    const context = canvas.getContext("2d");
    if (context) await drawInStrips(context, image, scale);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t().pictures.noPng)))),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {CanvasRenderingContext2D} context @param {HTMLImageElement} image @param {number} scale */
async function drawInStrips(context, image, scale) {
  const { width, height } = context.canvas;
  const most = Math.max(1, Math.floor(PIXELS_AT_ONCE / width));
  for (let top = 0; top < height; top += most) {
    const rows = Math.min(most, height - top);
    context.drawImage(image, 0, top / scale, width / scale, rows / scale, 0, top, width, rows);
    context.getImageData(0, top, 1, 1); // browsers put drawing off, and would do all of it at once
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** @param {string} name @param {Record<string, string | number>} attributes @returns {SVGElement} */
function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** The colour behind an element. @param {Element} element @returns {string} */
function backgroundOf(element) {
  const colour = getComputedStyle(element).backgroundColor;
  if (!isClear(colour)) return colour;
  return element.parentElement ? backgroundOf(element.parentElement) : "#ffffff";
}

/** @param {string} colour a computed one */
const isClear = (colour) => colour === "transparent" || /[,/]\s*0\)$/.test(colour);

/** @typedef {{x: number, y: number}} Place */

/** Add the drawing of an element, and its children. @param {Element} element @param {SVGElement} root @param {Place} origin */
function add(element, root, origin) {
  if (element.matches(LEFT_OUT)) return;
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return;
  const { left, top, width, height } = element.getBoundingClientRect();
  const place = { x: left - origin.x, y: top - origin.y, width, height };
  if (element instanceof SVGSVGElement) root.append(drawing(element, place));
  else if (element instanceof HTMLCanvasElement) addCanvas(element, root, place);
  else {
    if (!isClear(style.backgroundColor)) {
      root.append(
        make("rect", {
          ...place,
          rx: Math.min(parseFloat(style.borderRadius) || 0, height / 2),
          fill: style.backgroundColor,
        }),
      );
    }
    for (const child of element.childNodes) {
      if (child instanceof Element) add(child, root, origin);
      else if (child instanceof Text) addText(child, style, root, origin);
    }
  }
}

/** @param {HTMLCanvasElement} canvas @param {SVGElement} root @param {Record<string, number>} place */
function addCanvas(canvas, root, place) {
  if (canvas.width === 0 || canvas.height === 0) return;
  const rendering = getComputedStyle(canvas).imageRendering;
  const image = make("image", { ...place, href: canvas.toDataURL(), preserveAspectRatio: "none" });
  if (rendering === "pixelated") image.setAttribute("image-rendering", "pixelated");
  root.append(image);
}

/** Add a text, line by line. @param {Text} node @param {CSSStyleDeclaration} style @param {SVGElement} root @param {Place} origin */
function addText(node, style, root, origin) {
  for (const { text, rect } of linesOf(node)) {
    const line = make("text", {
      x: rect.left - origin.x,
      // The box of a text reaches about a quarter of it below the base line.
      y: rect.bottom - origin.y - 0.24 * rect.height,
      fill: style.color,
      "font-family": style.fontFamily,
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      textLength: rect.width,
      lengthAdjust: "spacingAndGlyphs",
    });
    line.textContent = text;
    root.append(line);
  }
}

/** @param {Text} node @returns {{text: string, rect: DOMRect}[]} */
function linesOf(node) {
  const range = document.createRange();
  /** @type {{text: string, rect: DOMRect}[]} */
  const lines = [];
  let start = 0;
  for (let end = 1; end <= node.data.length; end += 1) {
    range.setStart(node, start);
    range.setEnd(node, end);
    const isLast = end === node.data.length;
    const isBroken = range.getClientRects().length > 1;
    if (!isBroken && !isLast) continue;
    const last = isBroken ? end - 1 : end;
    const part = node.data.slice(start, last);
    const text = part.trim();
    // The space at both ends may not be shown at all.
    const first = start + part.length - part.trimStart().length;
    range.setStart(node, first);
    range.setEnd(node, first + text.length);
    const rect = range.getBoundingClientRect();
    if (text && rect.width > 0) lines.push({ text: text.replace(/\s+/g, " "), rect });
    if (isBroken) start = last;
  }
  return lines;
}

/** A drawing with its styles in place. @param {SVGSVGElement} svg @param {Record<string, number>} place */
function drawing(svg, place) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  const originals = svg.querySelectorAll("*");
  const copies = copy.querySelectorAll("*");
  originals.forEach((original, at) => resolve(original, copies[at]));
  for (const name of ["class", "tabindex", "role", "aria-label"]) copy.removeAttribute(name);
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(value));
  return copy;
}

/**
 * Write the computed styles of an element into its copy. Shapes and texts have all of theirs, so that none is inherited.
 * @param {Element} original @param {Element} copy
 */
function resolve(original, copy) {
  const style = getComputedStyle(original);
  for (const { name } of [...copy.attributes]) {
    if (/^(class|tabindex|role|style|on|aria-|data-)/.test(name)) copy.removeAttribute(name);
  }
  const isText = original instanceof SVGTextContentElement;
  const isShape = original instanceof SVGGeometryElement;
  for (const [name, initial] of isText ? TEXT : SHAPE) {
    const value = isText || isShape ? style.getPropertyValue(name) : initial;
    if (value && value !== initial) copy.setAttribute(name, value);
    else copy.removeAttribute(name);
  }
  if (style.opacity !== "1") fade(copy, Number(style.opacity), isShape);
  if (style.display === "none" || style.visibility === "hidden")
    copy.setAttribute("display", "none");
}

/**
 * Shapes get opacities of their paints: to draw thousands, each as a layer of its own, takes a minute.
 * @param {Element} copy @param {number} opacity @param {boolean} isShape
 */
function fade(copy, opacity, isShape) {
  if (!isShape) return copy.setAttribute("opacity", String(opacity));
  copy.removeAttribute("opacity");
  for (const paint of ["fill-opacity", "stroke-opacity"]) {
    copy.setAttribute(paint, String(opacity * Number(copy.getAttribute(paint) ?? 1)));
  }
}
