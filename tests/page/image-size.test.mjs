import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { MOST_PIXELS, imageSize } from "../../static/js/pictures/image-size.js";
import { checkPixels } from "../../static/js/own-data/image-files.js";

/** Images of 37 × 21 pixels, written by Pillow. */
const FILES = {
  "a JPEG with EXIF":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////////wAALCAAVACUBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AG0UUUUUUUUUUUUUV//Z",
  "a progressive JPEG":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////////////////wgALCAAVACUBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAAAAH/2gAIAQEAAAABgAB//8QAFBABAAAAAAAAAAAAAAAAAAAAMP/aAAgBAQABBQJ//8QAFBABAAAAAAAAAAAAAAAAAAAAMP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAMP/aAAgBAQABPyF//9oACAEBAAAAEAAB/8QAFBABAAAAAAAAAAAAAAAAAAAAMP/aAAgBAQABPxB//9k=",
  "a GIF":
    "R0lGODdhJQAVAIEAAMgeWgAAAAAAAAAAACwAAAAAJQAVAEAILwABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBDihxJsqRJkgEBADs=",
  "a lossy WebP":
    "UklGRjgAAABXRUJQVlA4ICwAAADwAgCdASolABUAP83m7XA/uDIrJWgD8DmJZwAAKUNt8AD+y6v+6WEN1igAAA==",
  "a lossless WebP": "UklGRh4AAABXRUJQVlA4TBEAAAAvJAAFAAdQjyJXq/+BiOh/AAA=",
  "an extended WebP":
    "UklGRlIAAABXRUJQVlA4WAoAAAAIAAAAJAAAFAAAVlA4TBEAAAAvJAAFAAdQjyJXq/+BiOh/AABFWElGGgAAAE1NACoAAAAIAAEBEgADAAAAAQAGAAAAAAAA",
  "a BMP":
    "Qk3mAAAAAAAAAD4AAAAoAAAAJQAAABUAAAABAAEAAAAAAKgAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wBJJJJJIAAAAJJJJJJIAAAAJJJJRKAAAABJJZQpEAAAAJJQJVKgAAAAJJVJJJAAAABJJJJJIAAAAJJJJJJIAAAAJJJJJJAAAABJJJJJIAAAAJJJJJJIAAAAJJJJJJAAAABJJJJJKAAAAJJJJJJAAAAAJJJJJJAAAABJJJJJKAAAAJJJJJJAAAAAJJJJJJAAAABJJJJJKAAAAJJJJJJAAAAAJJJJJJAAAAA=",
  "a PNG":
    "iVBORw0KGgoAAAANSUhEUgAAACUAAAAVAQAAAADpnxoDAAAAUUlEQVR4nGNUydt+O4dhkqfKJAem7bfztr9gup23/XYG0SIeDJ4qkzwVGBHmQEUYVKZ6qkxgytt9R0+AwVN1iqYAo0re9t8xTHnbb/utgKgBAEr9MgGzgVZUAAAAAElFTkSuQmCC",
};

const bytesOf = (text) => Uint8Array.from(Buffer.from(text, "base64"));
const uint16 = (value) => [value & 255, value >> 8];
const text = (string) => [...string].map((letter) => letter.charCodeAt(0));

test("the size of each format is read from its header", () => {
  for (const [name, file] of Object.entries(FILES))
    assert.deepEqual(imageSize(bytesOf(file)), [37, 21], name);
  const gallery = new URL("../../static/gallery/", import.meta.url);
  for (const name of readdirSync(gallery).filter((each) => each.endsWith(".webp"))) {
    const [width, height] = imageSize(readFileSync(new URL(name, gallery))) ?? [];
    assert.ok(width > 100 && width < 5000 && height > 100 && height < 5000, name);
  }
});

/** Where the sizes are in these files, and the most that a header can promise. */
const HUGE = {
  "a JPEG with EXIF": (view) => {
    const at = frameOf(view);
    view.setUint32(at + 5, 0xffffffff);
  },
  "a progressive JPEG": (view) => view.setUint32(frameOf(view) + 5, 0xffffffff),
  "a GIF": (view) => view.setUint32(6, 0xffffffff),
  "a lossy WebP": (view) => view.setUint32(26, 0xffffffff),
  "a lossless WebP": (view) => view.setUint32(21, 0xffffff0f),
  "an extended WebP": (view) => {
    for (let at = 24; at < 30; at += 1) view.setUint8(at, 0xff);
  },
  "a BMP": (view) => {
    view.setInt32(18, 1 << 30, true);
    view.setInt32(22, -(1 << 30), true); // the first row is at the top
  },
  "a PNG": (view) => {
    view.setUint32(16, 1 << 20);
    view.setUint32(20, 1 << 20);
  },
};

/** The place of the header of the frame. @param {DataView} view */
function frameOf(view) {
  const bytes = new Uint8Array(view.buffer);
  return bytes.findIndex((byte, at) => byte === 0xff && [0xc0, 0xc2].includes(bytes[at + 1]));
}

for (const [name, change] of Object.entries(HUGE)) {
  test(`${name} with too many pixels is refused before it is decoded`, () => {
    const bytes = bytesOf(FILES[name]);
    checkPixels(bytes);
    change(new DataView(bytes.buffer));
    const [width, height] = imageSize(bytes) ?? [];
    assert.ok(width * height > MOST_PIXELS, `${width} × ${height}`);
    assert.throws(() => checkPixels(bytes), /pixels are too many/);
  });
}

test("a GIF is as large as its first frame, which may be larger than its screen", () => {
  const screen = [...text("GIF89a"), ...uint16(2), ...uint16(3), 0, 0, 0];
  const comment = [0x21, 0xfe, 2, 65, 66, 1, 67, 0];
  const frame = [0x2c, ...uint16(10), ...uint16(20), ...uint16(60_000), ...uint16(50_000), 0];
  const bytes = Uint8Array.from([...screen, ...comment, ...comment, ...frame]);
  assert.deepEqual(imageSize(bytes), [60_010, 50_020]);
});

test("files of other formats are not decoded: their size is not known", () => {
  const avif = Uint8Array.from([0, 0, 0, 32, ...text("ftypavif"), ...new Array(40).fill(0)]);
  for (const bytes of [avif, new Uint8Array(0), Uint8Array.from(text("<svg width='9'/>"))]) {
    assert.equal(imageSize(bytes), null);
    assert.throws(() => checkPixels(bytes), /cannot decode/);
  }
});

test("damaged headers have a size or none, and no error", () => {
  const seed = Number.parseInt(process.env.PLAYGRAD_SEED ?? "1", 10);
  let state = seed % 2147483646;
  const draw = (most) => (state = (state * 48271 + 11) % 2147483647) % most;
  for (const [name, file] of Object.entries(FILES)) {
    for (let round = 0; round < 500; round += 1) {
      const bytes = bytesOf(file);
      for (let change = draw(4); change >= 0; change -= 1) bytes[draw(bytes.length)] = draw(256);
      const size = imageSize(bytes.subarray(0, draw(3) ? bytes.length : draw(bytes.length)));
      const isSize = size === null || size.every((each) => Number.isInteger(each) && each >= 0);
      assert.ok(isSize, `${seed}/${name}/${round}: ${size}`);
    }
  }
});
