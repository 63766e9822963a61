"""Random kernels: known answers, the same bits as NumPy, and orders with every sample."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices._wgpu import WgpuHost
from playgrad.ops.core import counter_random
from playgrad.ops.lowering.random import (
    lower_batch_indices,
    lower_dropout,
    lower_random_normal,
    lower_random_uniform,
)
from tests.kernels.harness import run

pytestmark = pytest.mark.gpu

ONES = 0xFFFFFFFF
# Known answers of Threefry-2x32 with 20 rounds: key, counter, result.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
SEED = (123_456_789, ONES)


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_threefry_gives_its_published_answers(
    key: tuple[int, int], counter: tuple[int, int], expected: tuple[int, int]
) -> None:
    first, second = counter_random.threefry2x32(key, *counter)
    assert (int(first[0]), int(second[0])) == expected


@pytest.mark.parametrize("shape", [(1,), (7,), (33, 65)])
@pytest.mark.parametrize("step", [0, 1, 4_000_000_000])
def test_the_gpu_draws_the_same_numbers(host: WgpuHost, shape: tuple[int, ...], step: int) -> None:
    counter = np.array(step, np.uint32)
    attrs = {"seed": list(SEED), "rate": 0.3}
    outputs = [(shape, "float32")]
    (uniform,) = run(host, lower_random_uniform, [counter], outputs, attrs)
    assert uniform.tobytes() == counter_random.uniform(SEED, step, shape).tobytes()
    (normal,) = run(host, lower_random_normal, [counter], outputs, attrs)
    expected = counter_random.normal(SEED, step, shape)
    np.testing.assert_allclose(normal, expected, rtol=1e-4, atol=2e-5)
    (dropped,) = run(host, lower_dropout, [np.ones(shape, np.float32), counter], outputs, attrs)
    mask = counter_random.dropout_mask(SEED, step, shape, 0.3)
    np.testing.assert_allclose(dropped, mask, rtol=1e-6)


@pytest.mark.parametrize("shape", [(9,), (9, 4), (9, 3), (9, 5, 3)])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_parts_of_a_batch_get_parts_of_its_mask(device: str, shape: tuple[int, ...]) -> None:
    cuts = [0, 2, 3, 8, 9]
    with pg.Graph().as_default() as graph:
        x = pg.constant(np.ones(shape, np.float32))
        scale = pg.Variable(np.ones(shape, np.float32))
        parts, slopes = [], []
        whole = pg.dropout(x * scale, 0.4, seed=3, counter=7)
        for first, last in pairwise(cuts):
            part = pg.dropout((x * scale)[first:last], 0.4, seed=3, counter=7, first_row=first)
            parts.append(part)
            slopes += pg.gradients(part, [scale])
    with pg.Session(graph, device) as session:
        mask, rows, slope = session.run([whole, parts, slopes])
    assert 0 < np.count_nonzero(mask) < mask.size
    np.testing.assert_array_equal(np.concatenate(rows), mask)
    np.testing.assert_array_equal(sum(slope), mask)


@pytest.mark.parametrize("shape", [(9,), (9, 3)])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_parts_of_a_batch_get_parts_of_its_numbers(device: str, shape: tuple[int, ...]) -> None:
    with pg.Graph().as_default() as graph:
        x = pg.placeholder("float32", (None, *shape[1:]))
        whole = pg.random_uniform_like(x, seed=3, counter=7)
        rest = pg.random_uniform_like(x[5:], seed=3, counter=7, first_row=5)
        equal = pg.random_uniform(shape, seed=3, counter=7)
    with pg.Session(graph, device) as session:
        numbers, last, known = session.run([whole, rest, equal], {x: np.zeros(shape)})
    np.testing.assert_array_equal(numbers[5:], last)
    np.testing.assert_array_equal(numbers, known)


def test_random_numbers_have_the_expected_moments() -> None:
    uniform = counter_random.uniform(SEED, 3, (200_000,))
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.003
    normal = counter_random.normal(SEED, 3, (200_001,))
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    mask_values = counter_random.dropout_mask(SEED, 3, (200_000,), 0.25)
    assert abs(mask_values.mean() - 1) < 0.01


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 17, 1000, 60_000])
def test_each_epoch_takes_every_example_once(count: int) -> None:
    orders = [counter_random.permute(SEED, epoch, np.arange(count), count) for epoch in range(3)]
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(count))
    if count >= 17:
        assert not np.array_equal(orders[0], orders[1])
        assert not np.array_equal(orders[0], np.arange(count))


@pytest.mark.parametrize("count", [1, 2, 400, 60_000, 1 << 17, (1 << 17) + 1])
def test_batches_are_pieces_of_the_order_of_their_epochs(count: int) -> None:
    batch = max(1, count // 3)  # the fourth batch begins in one epoch and ends in the next
    orders = [counter_random.permute(SEED, epoch, np.arange(count), count) for epoch in range(5)]
    batches = [counter_random.batch_indices(SEED, step, count, batch, True) for step in range(5)]
    assert np.array_equal(np.concatenate(batches), np.concatenate(orders)[: 5 * batch])


@pytest.mark.parametrize(("count", "batch"), [(10, 4), (10, 2), (7, 7), (400, 33)])
def test_rounds_begin_anew_and_batches_keep_to_them(count: int, batch: int) -> None:
    """Wherever training began, and also where the last batch would go beyond the end."""
    stride = max(batch, 3)
    steps = -(-count // stride)
    for started in (0, 1, steps, 5 * steps + 2):
        first = -(-started // steps)
        for step in range(3 * steps):
            order = counter_random.permute(SEED, first + step // steps, np.arange(count), count)
            places = (step % steps * stride + np.arange(batch)) % count
            rounds = (steps, stride)
            found = counter_random.batch_indices(
                SEED, started + step, count, batch, True, rounds, started
            )
            assert np.array_equal(found, order[places])


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(
    ("count", "batch", "rounds"),
    [
        (60_000, 64, None),
        (10, 3, None),
        (1, 2, None),
        (5, 17, None),
        (60_000, 64, (938, 64)),
        (60_000, 32, (938, 64)),
        (10, 4, (2, 4)),
    ],
)
def test_the_gpu_takes_the_same_examples(
    host: WgpuHost, count: int, batch: int, rounds: tuple[int, int] | None, shuffle: bool
) -> None:
    attrs = {
        "count": count, "batch": batch, "seed": list(SEED), "shuffle": shuffle, "rounds": rounds,
    }  # fmt: skip
    for step, started in ((0, 0), (1, 0), (937, 900), (12_345, 7)):
        inputs = [np.array(step, np.uint32), np.array(started, np.uint32)]
        (indices,) = run(host, lower_batch_indices, inputs, [((batch,), "int32")], attrs)
        expected = counter_random.batch_indices(SEED, step, count, batch, shuffle, rounds, started)
        assert np.array_equal(indices, expected)
