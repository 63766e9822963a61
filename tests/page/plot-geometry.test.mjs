import assert from "node:assert/strict";
import test from "node:test";
import { describe } from "../../static/js/output/figure-text.js";
import { columnsFor, gridPixels } from "../../static/js/pictures/picture-pixels.js";
import { axis, geometry, ticks } from "../../static/js/pictures/plot-geometry.js";
import { Transcript } from "../../static/js/output/transcript.js";

const FRAME = { width: 100, height: 50, left: 0, right: 0, top: 0, bottom: 0 };
const ENDS = { negative: [0, 0, 255], middle: [255, 255, 255], positive: [255, 0, 0] };

/** @param {number} bytes */
const picture = (bytes, title = "") => ({
  shows: "pictures",
  title,
  count: 1,
  height: 1,
  width: bytes,
  channels: 1,
  scale: "grey",
  low: 0,
  high: 1,
  note: "",
  pixels: new Uint8Array(bytes),
});

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(-3, 7, 5), [-2, 0, 2, 4, 6]);
  for (const [low, high] of [
    [0, Number.MAX_VALUE],
    [-Number.MAX_VALUE, Number.MAX_VALUE],
    [1e-300, 2e-300],
  ]) {
    const all = ticks(low, high, 5);
    assert.ok(
      all.length >= 2 && all.length <= 10 && all.every((each) => each >= low && each <= high),
      `${all}`,
    );
  }
});

test("equal values, and none, have an axis", () => {
  assert.equal(axis([5, 5], 0, 100, 4).place(5), 50);
  assert.equal(axis([NaN, Infinity], 0, 100, 4).place(0.5), 50);
});

test("a line has a gap where a value is missing, and a point where it is alone", () => {
  const { marks } = geometry([{ x: [0, 1, 2, 3, 4], y: [0, 1, NaN, 1, NaN] }], FRAME, false);
  assert.deepEqual(marks[0], { d: "M0 50L25 0M75 0", points: [[75, 0]] });
  const { marks: points } = geometry([{ x: [0, 1], y: [0, 1] }], FRAME, true);
  assert.deepEqual(points[0], {
    d: "",
    points: [
      [0, 50],
      [100, 0],
    ],
  });
});

test("pictures stand in a grid with gaps", () => {
  const figure = { ...picture(2), count: 3, pixels: Uint8Array.of(1, 2, 3, 4, 5, 6) };
  assert.equal(columnsFor(3), 3);
  const { width, height, rgba } = gridPixels(figure, ENDS);
  assert.deepEqual([width, height], [8, 1]);
  const greys = Array.from({ length: width }, (_, at) => (rgba[4 * at + 3] ? rgba[4 * at] : null));
  assert.deepEqual(greys, [1, 2, null, 3, 4, null, 5, 6]);
});

test("negative and positive values have the colours of the ends", () => {
  const figure = { ...picture(3), scale: "diverging", pixels: Uint8Array.of(1, 128, 255) };
  assert.deepEqual(
    [...gridPixels(figure, ENDS).rgba],
    [0, 0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 255],
  );
});

test("a figure is described with its numbers", () => {
  assert.equal(
    describe({ ...picture(4, "Four"), low: -1 }),
    "Four: picture of 1 × 4, from −1 to 1",
  );
  const y = new Uint8Array(Float64Array.of(1, NaN, 3).buffer);
  const plot = {
    shows: "plot",
    title: "",
    style: "line",
    x_label: "",
    y_label: "",
    series: [{ label: "a", x: y, y, total: 3000 }],
  };
  assert.equal(describe(plot), "plot of a, 3,000 points from 1 to 3, last 3");
  const [labels, none] = [["train", "test"], { lines: 0, images: 0, points: 0, shapes: 0 }];
  const loss = { title: "Loss", x_label: "epoch", y_label: "", labels, ...none, lines: 2 };
  const digit = {
    title: "",
    x_label: "",
    y_label: "",
    labels: [],
    ...none,
    images: 1,
    points: 1200,
    shapes: 2,
  };
  const image = { shows: "image", title: "Run", width: 9, height: 9, png: new Uint8Array() };
  assert.equal(
    describe({ ...image, axes: [loss, digit] }),
    "Run: figure with Loss: 2 lines (train, test) of y over epoch; 1 image, 1,200 points, 2 shapes",
  );
  assert.equal(describe({ ...image, title: "", axes: [] }), "empty figure");
});

test("figures stand between lines, and of a flood the first and the last stay", () => {
  const transcript = new Transcript();
  transcript.add("one", "stdout");
  transcript.addFigure(picture(4), "first figure");
  transcript.add("two\n", "stdout");
  assert.deepEqual(
    transcript.lines.map(({ text }) => text),
    ["one", "first figure", "two"],
  );
  for (let number = 0; number < 60; number += 1)
    transcript.addFigure(picture(4), `figure ${number}`);
  const kept = transcript.lines.filter(({ figure }) => figure).map(({ text }) => text);
  assert.equal(kept.length, 30);
  assert.deepEqual(
    [kept[0], kept[5], kept[6], kept.at(-1)],
    ["first figure", "figure 4", "figure 36", "figure 59"],
  );
  assert.ok(
    transcript.lines.some(
      ({ text, stream }) => text === "[not kept: figure 35]" && stream === "note",
    ),
  );
  for (let number = 0; number < 20; number += 1)
    transcript.addFigure(picture(1 << 20), `large ${number}`);
  const bytes = transcript.lines.reduce((sum, { figure }) => sum + (figure?.pixels.length ?? 0), 0);
  assert.ok(bytes <= 6 << 20 && transcript.lines.at(-1)?.figure);
  const again = new Transcript();
  again.restore(transcript.lines);
  assert.deepEqual(
    again.lines.map(({ figure }) => figure),
    transcript.lines.map(({ figure }) => figure),
  );
});
