"""The threads of NumPy's matrix products while a session runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import playgrad as pg
from playgrad.compiler.work_estimates import operations
from playgrad.runtime import blas

USERS = 3


@pytest.fixture(autouse=True)
def users_number(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The program's own products take `USERS` threads, and the environment has no number."""
    for name in blas.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    blas.controlled_libraries.cache_clear()
    with threadpool_limits(USERS, "blas"):
        yield
    blas.controlled_libraries.cache_clear()


def threads() -> int:
    (count,) = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
    return int(count)


def threads_of_products(size: int) -> int:
    """Return the number of threads for the products in a run of a session."""
    seen = []
    with pg.Graph().as_default():
        x = pg.placeholder("float32", (size, size))
        product = pg.matmul(x, x)
        with pg.Session(device="cpu", threads=1) as session:
            session.stop_check = lambda: bool(seen.append(threads()))
            session.run(product, {x: np.zeros((size, size), np.float32)})
    (count,) = set(seen)
    return count


def test_small_products_get_one_thread() -> None:
    assert threads_of_products(64) == 1
    assert threads() == USERS, "the number was not restored"


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 1), (4, 2), (16, USERS)])
def test_large_products_get_half_of_the_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, expected: int
) -> None:
    monkeypatch.setattr(blas.os, "cpu_count", lambda: cores)
    assert threads_of_products(512) == expected
    assert threads() == USERS


def test_sums_of_large_arrays_are_no_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas.os, "cpu_count", lambda: 8)
    with pg.Graph().as_default():
        x = pg.placeholder("float32", (1 << 14, 1 << 14))
        assert blas.worthwhile_threads([(x + x).node, x.node]) == 1


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("stacks", [((), ()), ((4, 5), (4, 5)), ((4, 5), ()), ((), (7,))])
def test_the_work_of_a_product_grows_with_its_stack(
    stacks: tuple[tuple[int, ...], tuple[int, ...]], transposed: bool
) -> None:
    rows, depth, columns = 8, 3, 5
    left = (depth, rows) if transposed else (rows, depth)
    with pg.Graph().as_default():
        a = pg.placeholder("float32", (*stacks[0], *left))
        b = pg.placeholder("float32", (*stacks[1], depth, columns))
        product = pg.matmul(a, b, transpose_a=transposed)
    count = np.prod(max(stacks, key=len), dtype=int)
    assert operations(product.node) == 2 * count * rows * depth * columns


def test_steps_that_are_repeated_get_one_thread() -> None:
    seen = []
    with pg.Graph().as_default():
        w = pg.Variable(np.eye(4, dtype=np.float32))
        update = w.assign(pg.matmul(w, w))
        with pg.Session(device="cpu") as session:
            session.stop_check = lambda: bool(seen.append(threads()))
            session.repeat(update, 3)
    assert set(seen) == {1} and threads() == USERS


@pytest.mark.parametrize(("value", "expected"), [("4", USERS), ("2,1", USERS), ("0", 1), ("x", 1)])
def test_a_number_in_the_environment_is_final(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    blas.controlled_libraries.cache_clear()
    assert threads_of_products(64) == expected
    with blas.shared_among(100):
        assert threads() == expected


def test_limits_nest_and_overlap() -> None:
    first, second = blas.limited_to(2), blas.limited_to(1)
    with blas.limited_to(100):
        assert threads() == USERS, "a limit raised the number"
    first.__enter__()
    second.__enter__()
    assert threads() == 1
    first.__exit__(None, None, None)
    assert threads() == 1
    second.__exit__(None, None, None)
    assert threads() == USERS


def test_limits_of_other_threads_count() -> None:
    """Whichever thread has set a number before."""
    seen = []

    def work() -> None:
        with blas.limited_to(1):
            seen.append(threads())

    with blas.limited_to(2):
        assert threads() == 2
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (seen, threads()) == ([1], 2)
    assert threads() == USERS


def test_an_error_restores_the_number() -> None:
    with pytest.raises(KeyboardInterrupt), blas.limited_to(1):
        raise KeyboardInterrupt
    assert threads() == USERS
