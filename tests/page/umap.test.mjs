// UMAP keeps neighbours, and draws the same picture for the same seed.

import assert from "node:assert/strict";
import test from "node:test";
import { UMAP } from "umap-js";
import { layOut } from "../../static/js/panels/inspect/umap-layout.js";

/** Numbers from −1 to 1 that are the same each time. @param {number} seed */
function noise(seed) {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return (2 * state) / 2147483647 - 1;
  };
}

/** Points on a rolled-up sheet, which no plane shows without folds. @param {number} samples @param {number} size */
function roll(samples, size) {
  const random = noise(7);
  const values = new Float32Array(3 * samples);
  for (let at = 0; at < samples; at += 1) {
    const angle = 4.5 + (random() + 1) * 4;
    values.set(
      [size * angle * Math.cos(angle), size * 8 * random(), size * angle * Math.sin(angle)],
      3 * at,
    );
  }
  return values;
}

/** The order of all points by their distance from one. @param {ArrayLike<number>} values @param {number} dimensions @param {number} from */
function order(values, dimensions, from) {
  const distance = (/** @type {number} */ to) => {
    let sum = 0;
    for (let axis = 0; axis < dimensions; axis += 1)
      sum += (values[from * dimensions + axis] - values[to * dimensions + axis]) ** 2;
    return sum;
  };
  const others = Array.from({ length: values.length / dimensions }, (_, at) => at).filter(
    (at) => at !== from,
  );
  const distances = others.map(distance);
  return others
    .map((_, at) => at)
    .sort((a, b) => distances[a] - distances[b])
    .map((at) => others[at]);
}

/**
 * Trustworthiness (Venna and Kaski, 2001): 1 if no point has neighbours in the plane that it has not in space.
 * @param {Float32Array} values @param {number} dimensions @param {Float32Array} points
 */
function trustworthiness(values, dimensions, points, count = 10) {
  const samples = points.length / 2;
  let penalty = 0;
  for (let from = 0; from < samples; from += 1) {
    const ranks = new Map(order(values, dimensions, from).map((at, rank) => [at, rank + 1]));
    for (const at of order(points, 2, from).slice(0, count))
      penalty += Math.max(0, /** @type {number} */ (ranks.get(at)) - count);
  }
  return 1 - (2 * penalty) / (samples * count * (2 * samples - 3 * count - 1));
}

const question = { values: roll(300, 1), dimensions: 3, neighbours: 15, seed: 1 };

test("neighbours stay neighbours, more than in a plane of the values and far more than by chance", () => {
  const points = layOut(UMAP, question);
  const kept = trustworthiness(question.values, 3, points);
  const random = noise(3);
  const byChance = trustworthiness(question.values, 3, Float32Array.from({ length: 600 }, random));
  const plane = trustworthiness(
    question.values,
    3,
    question.values.filter((_, at) => at % 3 !== 1),
  );
  assert.ok(kept > 0.95, `${kept}`);
  assert.ok(byChance < 0.6, `${byChance}`);
  assert.ok(kept > plane + 0.01, `${kept} ${plane}`);
});

test("the same seed gives the same picture, and another seed another", () => {
  const few = { ...question, values: roll(60, 1) };
  const points = layOut(UMAP, few);
  assert.deepEqual(layOut(UMAP, few), points);
  assert.notDeepEqual(layOut(UMAP, { ...few, seed: 2 }), points);
});

test("progress goes up to the end", () => {
  const parts = /** @type {number[]} */ ([]);
  layOut(UMAP, { ...question, values: question.values.slice(0, 60) }, (part) => parts.push(part));
  assert.ok(parts.length > 100 && parts.every((part, at) => at === 0 || part > parts[at - 1]));
  assert.equal(parts.at(-1), 1);
});

test("few points, equal points and numbers of extreme sizes have finite places", () => {
  for (const samples of [2, 3, 4, 20]) {
    for (const values of [
      roll(samples, 1),
      new Float32Array(3 * samples),
      roll(samples, 1e-30),
      roll(samples, 1e30),
    ]) {
      const points = layOut(UMAP, { ...question, values });
      assert.equal(points.length, 2 * samples);
      assert.ok(points.every(Number.isFinite), `${samples} ${points}`);
    }
  }
});
