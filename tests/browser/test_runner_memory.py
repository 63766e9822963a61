"""The rings and control words of the memory shared by the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_frames_of_every_size_survive_a_small_ring(blank_page: Page) -> None:
    """Frames around and far beyond the capacity, written and read in every interleaving."""
    wrong = blank_page.evaluate(
        """async () => {
          const { RingReader, RingWriter, createRing } = await import("/static/engine/ring.js");
          const ring = createRing(64);
          // Near the end of the counters' range, so that they wrap as well.
          new Int32Array(ring, 0, 2).fill(-40);
          const writer = new RingWriter(ring);
          const reader = new RingReader(ring);
          let seed = 1;
          const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
          const sent = [];
          const wrong = [];
          const check = (frame) => {
            const { text, payload } = sent.shift();
            if (frame.text !== text || String(frame.payload) !== String(payload)) wrong.push(text);
          };
          for (let i = 0; i < 3000; i++) {
            const text = "é".repeat(random(40));
            const payload = random(3) ? new Uint8Array(random(200)).fill(i) : undefined;
            sent.push({ text, payload });
            writer.push(text, payload);
            for (let n = random(12); n > 0; n--) {
              const frame = reader.poll();
              if (frame) check(frame);
              writer.pump();
            }
          }
          while (sent.length) {
            writer.pump();
            const frame = reader.poll();
            if (frame) check(frame);
          }
          return wrong;
        }"""
    )
    assert wrong == []


def test_the_stop_flag_and_the_interrupt_buffer_are_set_and_cleared(blank_page: Page) -> None:
    seen = blank_page.evaluate(
        """async () => {
          const shared = await import("/static/engine/shared-memory.js");
          const { interruptBuffer, stopFlag } = await import("/static/engine/control.js");
          const memory = shared.createSharedMemory();
          const stop = stopFlag(memory.control);
          const interrupt = interruptBuffer(memory.control);
          const seen = [stop(), interrupt[0]];
          shared.requestStop(memory);
          seen.push(stop(), interrupt[0]);
          shared.clearStop(memory);
          return [...seen, stop(), interrupt[0]];
        }"""
    )
    assert seen == [False, 0, True, 2, False, 0]
