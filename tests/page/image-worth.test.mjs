import assert from "node:assert/strict";
import test from "node:test";
import { FirstBytes, ImageWorth, PLAIN, typeOfData } from "../../static/engine/image-worth.js";
import { PIXELS } from "../../static/engine/pixels.js";

const IMAGE = 16.5e6;

/** Let an image arrive; returns the seconds until the verdict, and whether the image was given up. */
async function arrive(
  bytesPerSecond,
  { others = 0, cached = 0, slowFrom = Infinity, isNear = false } = {},
) {
  const worth = new ImageWorth(isNear);
  const began = 20; // the page has been open for a while
  let settled = null;
  let now = began;
  worth.likely.then(() => (settled ??= now - began));
  let received = 0;
  let all = cached;
  while (received < IMAGE && !worth.signal.aborted) {
    worth.add({ received, total: IMAGE }, all, 1000 * now);
    await null;
    now += 0.05;
    const arrived = 0.05 * (received > slowFrom ? 50_000 : bytesPerSecond);
    received = Math.min(IMAGE, received + arrived * (1 - others));
    all += arrived;
  }
  worth.add({ received, total: IMAGE }, all, 1000 * now);
  await null;
  return { settled, isGivenUp: worth.signal.aborted, seconds: now - began, received };
}

test("a quick line brings the image, and a restored Python need not wait for all of it", async () => {
  for (const rate of [4e6, 12e6, 100e6]) {
    const { settled, isGivenUp, seconds } = await arrive(rate);
    assert.equal(isGivenUp, false);
    assert.ok(settled <= 0.7 && settled < seconds, `${settled} of ${seconds} s at ${rate} bytes/s`);
  }
});

test("a slow line gives up the image within a second", async () => {
  for (const rate of [50e3, 500e3, 1.2e6, 2.5e6]) {
    const { settled, isGivenUp, seconds, received } = await arrive(rate);
    assert.equal(isGivenUp, true);
    assert.equal(settled, null);
    assert.ok(
      seconds < 1 && received < 2.5e6,
      `${seconds} s and ${received} bytes at ${rate} bytes/s`,
    );
  }
});

test("a busy machine is more patient with its own server", async () => {
  assert.equal((await arrive(1.5e6)).isGivenUp, true);
  assert.equal((await arrive(1.5e6, { isNear: true })).isGivenUp, false);
  assert.equal((await arrive(500e3, { isNear: true })).isGivenUp, true);
});

test("other files share the line", async () => {
  assert.equal((await arrive(5e6, { others: 0.7 })).isGivenUp, false);
  assert.equal((await arrive(1e6, { others: 0.7 })).isGivenUp, true);
});

test("cached files do not count for the speed of the line", async () => {
  assert.equal((await arrive(500e3, { cached: 6e6 })).isGivenUp, true);
});

test("a line that slows down gives up only files far from their end", async () => {
  assert.equal((await arrive(10e6, { slowFrom: 4e6 })).isGivenUp, true);
  assert.equal((await arrive(10e6, { slowFrom: 13e6 })).isGivenUp, false);
});

/** Let other files arrive; returns the verdict on the line, and the bytes and milliseconds that it took. */
async function begin(bytesPerSecond, { portion = 16_384, pause = 0 } = {}) {
  const line = new FirstBytes();
  let verdict = null;
  line.isQuick.then((isQuick) => (verdict = isQuick));
  let [bytes, ms] = [0, 0];
  for (; verdict === null && ms < 5000; ms += (1000 * portion) / bytesPerSecond) {
    bytes += portion;
    line.add(bytes, 40 + ms + (bytes > portion ? pause : 0));
    await null;
  }
  return { verdict, bytes, ms };
}

test("the first bytes tell a quick line from a slow one", async () => {
  for (const rate of [1.5e6, 4e6, 100e6]) {
    const { verdict, bytes } = await begin(rate);
    assert.equal(verdict, true);
    assert.ok(bytes < 150_000);
  }
  for (const rate of [50e3, 250e3, 500e3]) {
    const { verdict, ms } = await begin(rate);
    assert.equal(verdict, false);
    assert.ok(ms < 2000, `${ms} ms`);
  }
});

test("a browser that is busy for a moment does not make a quick line slow", async () => {
  assert.equal((await begin(20e6, { pause: 1000 })).verdict, true);
});

test("a line on which everything has arrived at once is quick", async () => {
  const line = new FirstBytes();
  line.add(9e6, 40);
  line.end();
  assert.equal(await line.isQuick, true);
});

/** What a page of this host does. @param {string} hostname @param {() => void | Promise<void>} run */
async function at(hostname, run) {
  Object.assign(globalThis, { location: { hostname } });
  try {
    await run();
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
}

test("files come uncompressed from a server on this machine, if the line is as quick as that", async () => {
  const isNear = async (/** @type {number} */ rate) => {
    const line = new FirstBytes();
    line.add(10_000, 40);
    line.add(10_000 + 150_000, 40 + 150_000_000 / rate);
    await line.isQuick;
    return line.isNear;
  };
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    await at(host, async () => {
      assert.equal(await isNear(60e6), true);
      assert.equal(await isNear(3e6), false); // a tunnel
    });
  }
  for (const host of ["school.example", "10.0.0.7", "localhost.example"])
    await at(host, async () => assert.equal(await isNear(60e6), false));
});

test("the first files of the document tell how a data set is to come", async () => {
  const file = (/** @type {number} */ transferSize, /** @type {number} */ ms) => ({
    transferSize,
    responseStart: 70,
    responseEnd: 70 + ms,
  });
  const [small, slow, kept, quick] = [file(20e3, 0), file(180e3, 400), file(0, 2), file(150e3, 60)];
  const types = (/** @type {any[]} */ ...files) =>
    [true, false].map((are) => typeOfData(are, files));
  for (const host of ["school.example", "localhost"]) {
    await at(host, () => {
      assert.deepEqual(types(small, slow, kept), [PIXELS, undefined]);
      assert.deepEqual(types(small, slow, quick), [undefined, undefined]);
    });
  }
  await at("localhost", () => assert.deepEqual(types(slow, file(150e3, 5)), [PLAIN, PLAIN]));
});
