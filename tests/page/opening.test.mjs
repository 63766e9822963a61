import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const values = Object.create({
  getItem: (key) => values[key] ?? null,
  setItem: (key, value) => (values[key] = value),
  removeItem: (key) => delete values[key],
});
/** Names of locks, and the pages that hold them. @type {Map<string, number>} */
const held = new Map();
globalThis.localStorage = values;
globalThis.location = { pathname: "/", search: "", hash: "" };

beforeEach(() => {
  for (const key of Object.keys(values)) delete values[key];
  held.clear();
});

let pages = 0;

/** A page of a browser: the module as the page has it, with what happens to it. */
async function openPage() {
  const page = (pages += 1);
  const events = new EventTarget();
  const document = Object.assign(new EventTarget(), {
    readyState: "complete",
    visibilityState: "visible",
  });
  const locks = {
    query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }),
    request: async (name, work) => {
      held.set(name, page);
      return await work({ name });
    },
  };
  const enter = () => {
    globalThis.document = document;
    globalThis.addEventListener = events.addEventListener.bind(events);
    globalThis.removeEventListener = events.removeEventListener.bind(events);
    Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  };
  enter();
  const module = await import(`../../static/js/session/opening.js?page=${page}`);
  return {
    ...module,
    say: (event) => (enter(), events.dispatchEvent(new Event(event))),
    show(state) {
      enter();
      document.visibilityState = state;
      document.dispatchEvent(new Event("visibilitychange"));
    },
    /** The page ends without a word, as after a crash. */
    die: () => [...held].forEach(([name, holder]) => holder === page && held.delete(name)),
  };
}

/** Whether a new page would leave the session out. */
async function isBarred(id = "session") {
  const page = await openPage();
  const answer = await page.isBarred(id);
  page.die();
  return answer;
}

/** @param {(page: any, opening: any) => unknown} fate of the page */
async function visit(fate, id = "session") {
  const page = await openPage();
  await fate(page, await page.beginOpening(id));
  page.die();
}

/** The page has answered for as long as it must. */
const comeUp = (t) => async (_, opening) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const open = opening.isOpen();
  t.mock.timers.tick(2000);
  await open;
  t.mock.timers.reset();
};

test("a session is barred once two pages died with it, and allowed when asked for", async () => {
  await visit(() => {});
  assert.equal(await isBarred(), false);
  await visit(() => {});
  assert.equal(await isBarred(), true);
  assert.equal(await isBarred("link session"), false);
  const page = await openPage();
  page.allow("session");
  assert.equal(await isBarred(), false);
});

test("a page that comes up is not at fault for errors of others", async (t) => {
  for (let each = 0; each < 3; each += 1)
    await visit(async (page, opening) => {
      page.say("error");
      page.say("unhandledrejection");
      await comeUp(t)(page, opening);
    });
  assert.equal(await isBarred(), false);
  await visit(() => {});
  assert.equal(await isBarred(), false, "visits that came up do not count");
});

test("a page that cannot restore or draw the session is at fault, though it answers", async (t) => {
  const fates = [(_, opening) => opening.fail(), (page) => page.failOpenings()];
  for (const fate of fates)
    await visit(async (page, opening) => {
      fate(page, opening);
      await comeUp(t)(page, opening);
      page.show("hidden");
      page.say("pagehide");
    });
  assert.equal(await isBarred(), true);
});

test("a page that is hidden, left, or without its storage is not at fault", async () => {
  const fates = [
    (page) => page.show("hidden"),
    (page) => page.say("pagehide"),
    (_, opening) => opening.giveUp(),
  ];
  for (const fate of fates) for (let each = 0; each < 3; each += 1) await visit(fate);
  assert.equal(await isBarred(), false);
});

test("a page that dies after it was shown again is at fault", async () => {
  for (let each = 0; each < 2; each += 1)
    await visit((page) => (page.show("hidden"), page.show("visible")));
  assert.equal(await isBarred(), true);
});

test("pages that open the same session at once do not count until they have died", async () => {
  const open = [];
  for (let each = 0; each < 4; each += 1) {
    const page = await openPage();
    assert.equal(await page.isBarred("session"), false);
    await page.beginOpening("session");
    open.push(page);
  }
  open[0].die();
  assert.equal(await isBarred(), false);
  open[1].die();
  assert.equal(await isBarred(), true);
});

test("a page takes no mark of another session or link away", async (t) => {
  for (let each = 0; each < 2; each += 1) await visit(() => {}, "session 2");
  await visit(comeUp(t), "session");
  assert.equal(await isBarred("session 2"), true);
});
