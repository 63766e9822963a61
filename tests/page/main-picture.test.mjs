import assert from "node:assert/strict";
import test from "node:test";
import { pictureNames, shownPicture } from "../../static/js/panels/watch/main-picture.js";

const OTHERS = ["confusion", "hardest", "graph"];

test("a program's own picture comes first, then the pictures of other panels", () => {
  assert.deepEqual(pictureNames("plane", null, OTHERS), ["plane", ...OTHERS]);
  assert.deepEqual(pictureNames("images", "drawing", OTHERS), ["drawing", "images", ...OTHERS]);
  assert.deepEqual(pictureNames(undefined, "drawing", []), ["drawing"]);
  for (const shows of [undefined, "none", "unknown"])
    assert.deepEqual(pictureNames(shows, null, ["graph"]), ["task", "graph"]);
});

test("a choice holds from before the run to its end", () => {
  for (const chosen of OTHERS) {
    for (const shows of [undefined, "unknown", "images"]) {
      const names = pictureNames(shows, "drawing", shows === "images" ? OTHERS : []);
      assert.equal(shownPicture(names, chosen, shows, OTHERS), chosen);
    }
  }
  assert.equal(shownPicture(["drawing"], "images", undefined, OTHERS), "task");
  assert.equal(shownPicture(["drawing", "images"], "images", "images", OTHERS), "images");
});

test("what a program does not have, or no panel knows, counts as no choice", () => {
  for (const chosen of [undefined, "", "constructor", "a picture of a later version", "plane"]) {
    assert.equal(shownPicture(["drawing"], chosen, undefined, OTHERS), "drawing");
    assert.equal(shownPicture(["text", "next"], chosen, "text", OTHERS), "text");
  }
  assert.equal(shownPicture(["rows", "graph"], "confusion", "rows", OTHERS), "rows");
  assert.equal(shownPicture(["task"], "graph", "none", OTHERS), "task");
});
