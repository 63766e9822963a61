import assert from "node:assert/strict";
import test from "node:test";
import {
  cellsOfMoves,
  cellOf,
  coordinates,
  heatOf,
  leastNumbered,
  lookOf,
} from "../../static/js/games/cells.js";
import { step } from "../../static/js/games/game-grid.js";
import {
  answer,
  begin,
  isOf,
  match,
  move,
  movesAfterUndo,
  refusal,
  refuse,
  undo,
} from "../../static/js/games/match.js";
import { gameOf, playsItself } from "../../static/js/games/programs.js";
import { placed } from "../../static/js/games/search-tree.js";

const CONNECT = gameOf("pg.SelfPlay(pg.games.ConnectFour())").form;
const GO = gameOf("pg.SelfPlay(pg.games.Go(size=5))").form;

test("a program with a player has the board of its game", () => {
  const of = (code) => gameOf(`player = pg.SelfPlay(${code}, model)`);
  assert.deepEqual(of("pg.games.TicTacToe()").rules, { name: "TicTacToe", size: 3 });
  assert.deepEqual(of("Go( 5 )").rules, { name: "Go", size: 5 });
  assert.deepEqual(of("Go(size=7, komi=3)").rules, { name: "Go", size: 7 });
  assert.deepEqual(of("Othello()").rules, { name: "Othello", size: 6 });
  for (const none of ["Go(40)", "Othello(5)", "Chess()", "game"]) assert.equal(of(none), null);
  assert.ok(playsItself("play = SelfPlay(game)") && !playsItself("# SelfPlay(game)"));
  assert.equal(gameOf("pg.games.Go(9)"), null);
  assert.equal(gameOf("# Go(9)\nSelfPlay(ConnectFour())").form.name, "Connect Four");
});

test("a board looks like that of its game", () => {
  assert.equal(lookOf(CONNECT), "drop");
  assert.equal(lookOf(GO), "points");
  assert.equal(lookOf(gameOf("SelfPlay(TicTacToe())").form), "marks");
  assert.equal(lookOf(gameOf("SelfPlay(Othello())").form), "squares");
  assert.deepEqual(coordinates(GO), { across: [..."abcde"], down: [..."54321"] });
  assert.deepEqual(coordinates(CONNECT), { across: [..."1234567"], down: null });
  const own = {
    name: "own",
    rows: 1,
    columns: 2,
    actions: ["left", "right"],
    at: [0, 1],
    passes: null,
  };
  assert.equal(coordinates(own), null);
});

test("a disc falls to the lowest free cell of its column", () => {
  const board = Array(42).fill(0);
  assert.equal(cellOf(CONNECT, board, 3), 38);
  board[38] = 1;
  board[31] = 2;
  assert.equal(cellOf(CONNECT, board, 3), 24);
  for (let row = 0; row < 6; row += 1) board[7 * row + 2] = 1;
  assert.equal(cellOf(CONNECT, board, 2), null);
  assert.equal(cellsOfMoves(CONNECT, board).size, 6);
  assert.equal(cellOf(GO, Array(25).fill(0), 25), null, "a pass has no cell");
});

test("cells are coloured by the part of the largest number", () => {
  const search = { prior: [0.5, 0.25, 0], visits: [1, 4, 0], q: [-0.5, 0.75, 0] };
  const heats = (heat) => [0, 1, 2].map((action) => heatOf(search, action, heat));
  assert.deepEqual(heats("policy"), [1, 0.5, 0]);
  assert.deepEqual(heats("visits"), [0.25, 1, 0]);
  assert.deepEqual(heats("q"), [-0.5, 0.75, null], "a move without a visit has no Q");
  assert.deepEqual(heats("none"), [null, null, null]);
});

test("a large board has few numbers", () => {
  const prior = Array.from({ length: 81 }, (_, at) => (81 - at) / 3321);
  const search = { prior, visits: [], q: [] };
  const least = leastNumbered(search, [...prior.keys()], "policy");
  const numbered = prior.filter((_, at) => heatOf(search, at, "policy") >= least);
  assert.deepEqual(numbered, prior.slice(0, 12));
  assert.equal(leastNumbered(search, [0, 1, 2], "policy"), 0, "a small one has all");
  assert.equal(leastNumbered(null, [...prior.keys()], "policy"), 0);
});

test("arrow keys walk over the board and stop at its edges", () => {
  const walk = (keys, from) => keys.reduce((at, key) => step(key, at, 3, 4), from);
  assert.equal(walk(["ArrowRight", "ArrowDown"], 5), 10);
  assert.equal(walk(["ArrowLeft", "ArrowUp"], 5), 0);
  assert.equal(walk(["ArrowLeft", "ArrowUp"], 0), 0);
  assert.equal(walk(["ArrowRight", "ArrowDown"], 11), 11);
  assert.deepEqual([walk(["Home"], 6), walk(["End"], 6)], [4, 7]);
  assert.equal(step("a", 0, 3, 3), null);
});

const view = (actions, legal, search) => ({ position: { actions, legal, turns: [] }, search });

test("the network plays what it has visited most, and draws the first moves of a watched game", () => {
  const search = { simulations: 8, prior: [0.9, 0, 0.1], visits: [2, 0, 6] };
  assert.equal(answer(view([], [0, 2], search), 0), 2);
  assert.equal(answer(view([], [0, 2], { ...search, simulations: 0 }), 0), 0);
  const drawn = (random, after = []) => answer(view(after, [0, 2], search), 2, () => random);
  assert.deepEqual([drawn(0), drawn(0.24), drawn(0.26), drawn(0.99)], [0, 0, 2, 2]);
  assert.equal(drawn(0, [1, 1]), 2, "later moves are the best ones");
  assert.deepEqual(
    [0, 0.5, 0.9].map((x) => answer(view([], [1, 4, 7], null), 0, () => x)),
    [1, 4, 7],
  );
  assert.equal(answer(view([], [], null), 0), null);
});

test("an undo leads back to the visitor's turn", () => {
  const left = (actions, visitor, turns) => movesAfterUndo({ actions, visitor }, turns);
  assert.equal(left([4, 0], 0, [0, 1, 0]), 0);
  assert.equal(left([4, 0, 8], 0, [0, 1, 0, 1]), 2, "before the answer");
  assert.equal(left([4], 1, [0, 1]), null, "the network began");
  assert.equal(left([4, 0, 8], 1, [0, 1, 0, 1]), 1);
  assert.equal(left([4, 0, 8], null, [0, 1, 0, 1]), 2, "a watched game");
  assert.equal(left([], 0, [0]), null);
  assert.equal(left([4, 0], 0, [0]), 0, "Python has not answered");
});

test("moves are made in the game that they are for, and refused ones are taken back", () => {
  begin(0);
  const first = match.value.actions;
  move(first, 4);
  move(first, 5);
  assert.deepEqual(match.value.actions, [4], "the second was for another position");
  refuse(match.value.actions, match.value.actions, "It is not your turn.");
  assert.equal(refusal.value, "It is not your turn.");
  move(match.value.actions, 99);
  assert.equal(refusal.value, "");
  const wrong = match.value.actions;
  refuse(wrong, [4], "There is no 99.");
  assert.deepEqual([match.value.actions, refusal.value], [[4], "There is no 99."]);
  refuse(wrong, [], "too late");
  assert.deepEqual(match.value.actions, [4]);
  undo([0, 1]);
  assert.deepEqual([match.value.actions, refusal.value], [[], ""]);
  assert.ok(isOf(view([4, 0], []), [4, 0]) && !isOf(view([4], []), [4, 0]) && !isOf(null, []));
});

test("the places of a tree do not depend on its moves", () => {
  const tree = [[3], [3, 1], [3, 1, 0], [3, 2], [5], [5, 8]].map((path) => ({ path }));
  assert.deepEqual(
    placed(tree).map(({ place, parent, hasReplies }) => [place, parent, hasReplies]),
    [
      ["0", "", true],
      ["0.0", "0", true],
      ["0.0.0", "0.0", false],
      ["0.1", "0", false],
      ["1", "", true],
      ["1.0", "1", false],
    ],
  );
});
