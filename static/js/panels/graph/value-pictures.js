import { html, useLayoutEffect, useRef } from "../../../vendor/preact.js";
import { tick } from "../../words/format.js";
import { t } from "../../words/locale.js";
import { columnsFor, gridPixels } from "../../pictures/picture-pixels.js";
import { parseColour } from "../../pictures/plane-colours.js";
import { cssColour, theme } from "../../frame/theme.js";

/** The width of a picture, in pixels of the page, where there is room. */
const SIDE = 64;
const ALONE = 140;

/** A value that is images, feature maps or filters. @param {{pictures: import("../../../engine/messages.js").NodePictures}} props */
export function ValuePictures({ pictures }) {
  const words = t().nodeTabs;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { count, of, total, low, high, scale } = pictures;
  const themeName = theme.value;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const [negative, middle, positive] = ["--series-1", "--surface", "--series-0"].map((name) =>
      parseColour(cssColour(name)),
    );
    const { width, height, rgba } = gridPixels(pictures, { negative, middle, positive });
    Object.assign(element, { width, height });
    element.getContext("2d")?.putImageData(new ImageData(rgba, width, height), 0, 0);
  }, [pictures, themeName]);
  const side = count === 1 ? ALONE : SIDE * columnsFor(count);
  const text = words.pictures[of](count, total);
  return html`
    <figure class="node-pictures" data-testid="node-pictures" data-of=${of}>
      <canvas ref=${canvas} role="img" aria-label=${text} style=${{ width: `${side}px` }}></canvas>
      <figcaption>
        <span>${text}</span>
        ${scale !== "colour" && html`<span>${tick(low)} … ${tick(high)}</span>`}
      </figcaption>
    </figure>
  `;
}
