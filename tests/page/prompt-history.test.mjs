import assert from "node:assert/strict";
import test from "node:test";
import { PromptHistory } from "../../static/js/output/prompt-history.js";

test("up and down walk through the history and back to the unfinished line", () => {
  const history = new PromptHistory();
  for (const code of ["a", "b", "b", "c"]) history.add(code);
  assert.equal(history.move("unfinished", -1), "c");
  assert.equal(history.move("c", -1), "b");
  assert.equal(history.move("b", -1), "a");
  assert.equal(history.move("a", -1), null);
  assert.equal(history.move("a", 1), "b");
  assert.equal(history.move("b", 1), "c");
  assert.equal(history.move("c", 1), "unfinished");
  assert.equal(history.move("unfinished", 1), null);
});

test("the history has an end", () => {
  const history = new PromptHistory();
  for (let number = 0; number < 1000; number += 1) history.add(String(number));
  let shown = history.move("", -1);
  let count = 0;
  for (; shown !== null; shown = history.move(shown, -1)) count += 1;
  assert.equal(count, 200);
});
