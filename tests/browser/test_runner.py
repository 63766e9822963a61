"""static/engine/runner.js in Chromium, without workers and without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser import plans

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# `bench.runner` has its own device; `bench.stop` ends replays; `bench.attempt(work)` returns the
# type, op and message of the error.
OPEN = """async () => {
  const { Runner } = await import("/static/engine/runner.js");
  const { findAdapter, openDevice, describe } = await import("/static/engine/adapter.js");
  globalThis.bench = {
    stop: false,
    async open() {
      const adapter = await findAdapter(navigator.gpu);
      this.device = await openDevice(adapter);
      this.info = describe(adapter, this.device);
      this.runner = new Runner(this.device, () => this.stop);
      await this.runner.calibrate();
    },
    async attempt(work) {
      try { return { value: await work() }; }
      catch ({ type, op, message }) { return { type, op: op ?? null, message }; }
    },
  };
  await bench.open();
}"""


@pytest.fixture
def bench(blank_page: Page) -> Page:
    blank_page.evaluate(OPEN)
    return blank_page


def attempt_load(bench: Page, plan: dict[str, Any]) -> dict[str, Any]:
    """Return the error of loading a plan; check that no buffer is left."""
    result: dict[str, Any] = bench.evaluate(
        "plan => bench.attempt(() => bench.runner.load(plan))", plan
    )
    stats = bench.evaluate("bench.runner.stats()")
    assert (stats["buffers"], stats["bytes"], stats["programs"]) == (0, 0, 0)
    return result


def test_a_plan_runs_with_segments_feeds_fetches_and_external_buffers(bench: Page) -> None:
    x = np.random.default_rng(1).standard_normal(plans.COUNT).astype(np.float32)
    weight = np.random.default_rng(2).standard_normal(plans.COUNT).astype(np.float32)
    result = bench.evaluate(
        """async ([plan, x, weight, size]) => {
          const bytes = (values) => new Uint8Array(new Float32Array(values).buffer);
          const runner = bench.runner;
          const external = await runner.createBuffer(size);
          const program = await runner.load(plan, { weight: external });
          const first = await runner.execute({
            program, segment: 0, reads: [[[program, 2], 0, size]],
            writes: [[[program, 1], 0, bytes(x)], [external, 0, bytes(weight)]],
          });
          const second = await runner.execute({
            program, segment: 1, steps: 5, reads: [[[program, 4], 0, size], [external, 8, 4]],
          });
          const full = runner.stats();
          runner.unload(program);
          runner.destroyBuffer(external);
          const floats = (data, from, count) => [...new Float32Array(data.buffer, from, count)];
          return {
            fetch: floats(first.data, 0, size / 4), done: [first.steps_done, second.steps_done],
            total: floats(second.data, 0, size / 4), weight: floats(second.data, size, 1),
            full, empty: runner.stats(),
          };
        }""",
        [plans.two_segments(), x.tolist(), weight.tolist(), plans.BYTES],
    )
    np.testing.assert_allclose(result["fetch"], 2 * x, rtol=1e-6)
    np.testing.assert_allclose(
        result["total"], plans.bias() + 10 * weight * x, rtol=1e-4, atol=1e-5
    )
    assert result["weight"] == [weight[2]]
    assert result["done"] == [1, 5]
    assert result["full"]["programs"] == 1
    assert result["full"]["buffers"] == 5
    assert result["empty"] == {
        "buffers": 0,
        "bytes": 0,
        "programs": 0,
        "peak_bytes": result["full"]["peak_bytes"],
    }


def test_executions_are_begun_while_earlier_ones_are_under_way(bench: Page) -> None:
    """Each reads the state right after it, whatever later executions write."""
    results = bench.evaluate(
        """async ([plan, count, size]) => {
          const runner = bench.runner;
          const external = await runner.createBuffer(size);
          const program = await runner.load(plan, { weight: external });
          const ends = [];
          for (const value of [1, 2, 3, 4]) {
            const bytes = new Uint8Array(new Float32Array(count).fill(value).buffer);
            ends.push(await runner.begin({
              program, segment: 0, writes: [[[program, 1], 0, bytes]],
              reads: [[[program, 2], 0, 4 * value]],
            }));
          }
          const found = [];
          for (const end of ends) found.push([...new Float32Array((await end()).data.buffer)]);
          return found;
        }""",
        [plans.two_segments(), plans.COUNT, plans.BYTES],
    )
    assert results == [[2.0], [4.0] * 2, [6.0] * 3, [8.0] * 4]


def test_a_kernel_that_does_not_compile_names_family_and_line(bench: Page) -> None:
    error = attempt_load(bench, plans.single(plans.BROKEN, ["read_write"], [[0, 0, plans.BYTES]]))
    assert error["type"] == "KernelError"
    assert "kernel only" in error["message"]
    assert "line 5" in error["message"]
    assert "nonsense(1.0)" in error["message"]


def test_a_buffer_read_and_written_in_one_dispatch_names_the_node(bench: Page) -> None:
    bindings = [[0, 0, plans.BYTES], [0, 0, plans.BYTES]]
    error = attempt_load(bench, plans.single(plans.DOUBLE, ["read", "read_write"], bindings))
    assert error["type"] == "KernelError"
    assert error["op"] == "layer/node"
    assert "kernel only" in error["message"]


def test_access_that_differs_from_the_kernel_names_the_kernel(bench: Page) -> None:
    error = attempt_load(
        bench, plans.single(plans.DOUBLE, ["read", "read"], [[0, 0, 4], [0, 0, 4]])
    )
    assert error["type"] == "KernelError"
    assert "kernel only" in error["message"]


def test_a_plan_with_an_unknown_buffer_is_refused(bench: Page) -> None:
    error = attempt_load(
        bench, plans.single(plans.DOUBLE, ["read", "read_write"], [[0, 0, 4], [7, 0, 4]])
    )
    assert error == {
        "type": "KernelError",
        "op": "layer/node",
        "message": "the plan has no buffer 7",
    }


def test_spans_outside_a_buffer_are_refused_and_the_runner_continues(bench: Page) -> None:
    result = bench.evaluate(
        """async () => {
          const id = await bench.runner.createBuffer(6);
          const execute = (what) => bench.attempt(() => bench.runner.execute(what));
          const fives = (size) => new Uint8Array(size).fill(5);
          const write = (offset, size) => execute({ writes: [[id, offset, fives(size)]] });
          const read = (offset, size) => execute({ reads: [[id, offset, size]] });
          const refused = [await write(0, 9), await write(2, 4), await read(8, 4)];
          await write(0, 6);
          const { value } = await read(0, 6);
          return { refused, data: [...value.data] };
        }"""
    )
    assert [each["type"] for each in result["refused"]] == ["KernelError"] * 3
    assert "write 9 bytes at offset 0 of a buffer of 8 bytes" in result["refused"][0]["message"]
    assert result["data"] == [5] * 6


def test_stop_ends_a_long_execute_between_steps(bench: Page) -> None:
    result = bench.evaluate(
        """async (plan) => {
          const program = await bench.runner.load(plan);
          let stopped;
          setTimeout(() => { bench.stop = true; stopped = performance.now(); }, 300);
          const { steps_done, data } = await bench.runner.execute({
            program, steps: 1e9, reads: [[[program, 0], 0, 4]],
          });
          const ms = performance.now() - stopped;
          bench.stop = false;
          const again = await bench.runner.execute({ program, steps: 3 });
          const [counted] = new Uint32Array(data.buffer);
          return { ms, steps: steps_done, counted, again: again.steps_done };
        }""",
        plans.endless(),
    )
    assert 0 < result["steps"] < 1e9
    assert result["counted"] == result["steps"]
    assert result["ms"] < 30_000  # all steps would take days
    assert result["again"] == 3


def test_a_lost_device_fails_the_execution_and_a_new_one_works(bench: Page) -> None:
    result = bench.evaluate(
        """async (plan) => {
          const program = await bench.runner.load(plan);
          setTimeout(() => bench.device.destroy(), 200);
          const during = await bench.attempt(() => bench.runner.execute({ program, steps: 1e9 }));
          const after = await bench.attempt(() => bench.runner.createBuffer(4));
          await bench.open();
          const again = await bench.runner.load(plan);
          const { steps_done } = await bench.runner.execute({ program: again, steps: 2 });
          return { during, after, steps_done };
        }""",
        plans.endless(),
    )
    assert result["during"]["type"] == result["after"]["type"] == "DeviceLostError"
    assert "the GPU device was lost" in result["during"]["message"]
    assert result["steps_done"] == 2


def test_adapter_is_described(bench: Page) -> None:
    info = bench.evaluate("bench.info")
    assert info["is_software"] is True
    assert info["has_quads"] is True
    assert "swiftshader" in info["name"].lower()
    assert info["limits"]["maxComputeInvocationsPerWorkgroup"] == 256
    assert info["limits"]["maxBufferSize"] <= 1 << 30


def test_a_step_that_is_read_is_one_submit(bench: Page) -> None:
    """The steps before the last, and steps of which nothing is read, have submits of their own."""
    counted = bench.evaluate(
        """async ([plan, size]) => {
          const runner = bench.runner;
          const external = await runner.createBuffer(size);
          const program = await runner.load(plan, { weight: external });
          const { submit } = GPUQueue.prototype;
          let submits = 0;
          GPUQueue.prototype.submit = function (commands) {
            submits += 1;
            return submit.call(this, commands);
          };
          const count = async (execution) => {
            submits = 0;
            await runner.execute({ program, segment: 1, ...execution });
            return submits;
          };
          const reads = [[[program, 4], 0, size]];
          const counts = {
            read: await count({ reads }), unread: await count({}),
            none: await count({ program: null, reads: [[external, 0, 4]] }),
            refused: await bench.attempt(() => count({ reads: [[external, 0, size + 4]] })),
          };
          counts.refusedSubmits = submits;
          bench.stop = true;
          counts.stopped = await count({ reads });
          bench.stop = false;
          GPUQueue.prototype.submit = submit;
          return counts;
        }""",
        [plans.two_segments(), plans.BYTES],
    )
    refused = counted.pop("refused")
    assert refused["type"] == "KernelError" and "cannot read" in refused["message"]
    assert counted == {"read": 1, "unread": 1, "none": 1, "refusedSubmits": 0, "stopped": 1}


def test_groups_grow_to_the_device_and_shrink_again(bench: Page) -> None:
    groups = bench.evaluate(
        """async () => {
          const { Pace } = await import("/static/engine/pacing.js");
          const settle = (latency, perStep) => {
            const pace = new Pace(latency);
            for (let i = 0; i < 20; i++) {
              // A coarse timer reports the end of a group at its next tick.
              const ms = pace.group * perStep;
              pace.finished(pace.group, latency > 1 ? Math.ceil(ms / latency) * latency : ms);
            }
            return [pace.group, pace.submit];
          };
          return {
            fresh: new Pace(0.1).submit, fast: settle(0.1, 0.05), medium: settle(0.1, 2),
            slow: settle(0.1, 200), coarse: settle(100, 1),
          };
        }"""
    )
    assert groups["fresh"] == 1  # duration unknown
    assert groups["fast"] == [500, 8]  # 25 ms
    assert groups["medium"][1] == 2  # 5 ms at most in one submit
    assert groups["slow"] == [1, 1]
    assert groups["coarse"][0] >= 50  # not one by one, each with a timer tick


def test_the_pace_uses_the_shortest_recent_step(bench: Page) -> None:
    least = bench.evaluate(
        """async () => {
          const { Pace } = await import("/static/engine/pacing.js");
          const pace = new Pace(0.1);
          const found = [pace.least];
          for (const ms of [3, 1, 40, ...Array(7).fill(6)]) {
            pace.finished(1, ms);
            found.push(pace.least);
          }
          return found;
        }"""
    )
    assert least == [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 6]  # not the single slow one


def test_only_short_waits_are_polled(bench: Page) -> None:
    asked = bench.evaluate(
        """async () => {
          const { polled } = await import("/static/engine/polling.js");
          const { device } = bench;
          let asked = 0;
          device.pushErrorScope = function (filter) {
            asked += 1;
            GPUDevice.prototype.pushErrorScope.call(this, filter);
          };
          const found = [];
          for (const least of [0, 1, 4, 6]) {
            asked = 0;
            await polled(device, new Promise((done) => setTimeout(done, 30)), least);
            found.push(asked);
          }
          delete device.pushErrorScope;
          return found;
        }"""
    )
    unknown, short, longer, long = asked
    assert min(unknown, short, longer) > 0
    assert long == 0


def test_an_execution_says_when_it_began_was_submitted_and_was_done(bench: Page) -> None:
    clock, before, after = bench.evaluate(
        """async ([plan, size]) => {
          const now = () => performance.timeOrigin + performance.now();
          const external = await bench.runner.createBuffer(size);
          const program = await bench.runner.load(plan, { weight: external });
          const before = now();
          const reads = [[[program, 2], 0, size]];
          const { clock } = await bench.runner.execute({ program, segment: 0, reads });
          return [clock, before, now()];
        }""",
        [plans.two_segments(), plans.BYTES],
    )
    assert [before, *clock, after] == sorted([before, *clock, after])
