"""Choosing kernel variants by measurement: the decision, real measurements, saved results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices import registry
from playgrad.devices._wgpu import host
from playgrad.devices.saved_tunings import adapter_key, dump_tunings, parse_tunings
from playgrad.devices.target import AdapterInfo
from playgrad.devices.tuning import (
    HARDWARE,
    LOOP,
    SOFTWARE,
    VARIANTS,
    Tuning,
    choose,
    default_tuning,
)
from playgrad.graph.opdef import OpDef, lookup
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.runtime.tuner import HEATS, PROBES, REPEATS, Probe, Tuner, tune

KINDS = {"square": "product", "skinny": "product", "rows": "reduction"}
MEASURED = Tuning("registers_4x4", "shared_32", "many_invocations")
SMALL = Probe(
    "small", "product", lookup("matmul"), ((40, 30), (30, 20)), 48000,
    {"transpose_a": False, "transpose_b": False},
)  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, from which devices are opened anew."""
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path / "cache"))
    registry.close_gpus()
    yield tmp_path / "cache" / "tunings.json"
    registry.close_gpus()


# The decision


def test_the_fastest_over_all_probes_of_a_kind_wins() -> None:
    times = {
        "square": {"shared_64": 1.0, "shared_32": 0.5, "registers_4x4": 0.4},
        "skinny": {"shared_64": 1.0, "shared_32": 0.5, "registers_4x4": 2.0},
        "rows": {"trees": 1.0, "many_invocations": 3.0, "few_invocations": 0.1},
    }
    best = Tuning("shared_32", "shared_64", "few_invocations", recurrence=LOOP)
    assert choose(times, KINDS, HARDWARE) == best


@pytest.mark.parametrize("seconds, winner", [(0.96, "shared_64"), (0.94, "shared_32")])
def test_near_ties_do_not_flip(seconds: float, winner: str) -> None:
    times = {"square": {"shared_64": 1.0, "shared_32": seconds}, "skinny": {}}
    assert choose(times, {"square": "product"}, HARDWARE).product == winner


def test_a_variant_must_be_right_in_every_probe_of_its_kind() -> None:
    times = {"square": {"shared_64": 1.0, "shared_32": 0.1}, "skinny": {"shared_64": 1.0}}
    assert choose(times, KINDS, HARDWARE) == HARDWARE


def test_an_incorrect_default_loses_to_any_correct_variant() -> None:
    times = {"square": {"shared_32": 9.0}, "skinny": {"shared_32": 9.0}}
    assert choose(times, KINDS, HARDWARE).product == "shared_32"


def test_unmeasured_kinds_keep_their_defaults() -> None:
    assert choose({}, KINDS, SOFTWARE) == SOFTWARE
    assert choose({"square": {"shared_64": 0.1}}, KINDS, SOFTWARE) == SOFTWARE


# Saved results


def test_saved_tunings_are_restored_and_damaged_ones_ignored() -> None:
    known = {"an adapter": MEASURED, "another": SOFTWARE}
    assert parse_tunings(dump_tunings(known)) == known
    for text in ("", "{", "[1]", "null", '{"a": 1}', '{"a": {"product": "shared_64"}}'):
        assert parse_tunings(text) == {}
    other = dump_tunings(known).replace("registers_4x4", "registers_99x1")
    assert parse_tunings(other) == {"another": SOFTWARE}


def test_another_driver_is_another_adapter() -> None:
    info = AdapterInfo("a card", vendor="a maker", driver="1.0")
    assert adapter_key(info) == adapter_key(replace(info, limits=info.limits))
    assert adapter_key(info) != adapter_key(replace(info, driver="1.1"))


# Real measurements


@pytest.mark.slow
@pytest.mark.gpu
def test_every_variant_is_measured_and_the_best_remembered(cache: Path) -> None:
    device = registry.gpu(0)
    before = device.host.stats()
    seen: dict[str, Mapping[str, float]] = {}
    tuning = tune(device, lambda probe, times: seen.update(times))
    kinds = {probe.name: probe.kind for probe in PROBES}
    impossible = set() if "subgroup" in device.host.info.features else {"quads_8x8", "subgroups"}
    assert {name: set(times) for name, times in seen.items()} == {
        name: set(VARIANTS[kind]) - impossible for name, kind in kinds.items()
    }, "a variant gave wrong numbers"
    assert tuning == choose(seen, kinds, default_tuning(device.target.is_software))
    after = device.host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))
    assert device.target.tuning == tuning
    # Another process loads it.
    registry.close_gpus()
    assert registry.gpu(0).target.measured == tuning
    assert list(parse_tunings(cache.read_text())) == [adapter_key(device.host.info)]


@pytest.mark.gpu
def test_remembered_tunings_are_used() -> None:
    registry.save_tuning(registry.gpu(0), MEASURED)
    assert family_of_a_product() == "matmul_register"
    registry.save_tuning(registry.gpu(0), HARDWARE)
    assert family_of_a_product() == "matmul_shared"
    registry.save_tuning(registry.gpu(0), None)
    assert registry.gpu(0).target.measured is None


def family_of_a_product() -> str:
    """Return the kernel family that a session uses for a product, after a comparison with NumPy.
    The product is large enough for the variants to use different families."""
    a, b = np.ones((64, 784), np.float32), np.ones((784, 128), np.float32)
    with pg.Graph().as_default():
        fed = pg.placeholder("float32", a.shape), pg.placeholder("float32", b.shape)
        product = pg.matmul(*fed)
        with pg.Session(device="gpu") as session:
            feeds = dict(zip(fed, (a, b), strict=True))
            np.testing.assert_allclose(session.run(product, feeds), a @ b)
            (loaded,) = session.compiled(product, feeds).plans.values()
    kernel, *_ = loaded.plan["kernels"]
    family: str = kernel["family"]
    return family


@pytest.mark.gpu
@pytest.mark.parametrize("damage", [b"{", b"\xff\xfe", b'{"x": {"product": "none"}}'])
def test_a_damaged_file_is_ignored_and_written_anew(cache: Path, damage: bytes) -> None:
    cache.parent.mkdir()
    cache.write_bytes(damage)
    device = registry.gpu(0)
    assert device.target.measured is None
    registry.save_tuning(device, MEASURED)
    assert list(parse_tunings(cache.read_text()).values()) == [MEASURED]


@pytest.mark.gpu
def test_a_kernel_with_wrong_numbers_is_not_considered() -> None:
    matmul = lookup("matmul")

    def broken(request: KernelRequest) -> Lowering:
        """A fast variant with wrong results: it omits most of the depth of the product."""
        assert matmul.lower
        lowering = matmul.lower(request)
        if request.target.tuning.product != "registers_12x8":
            return lowering
        calls = [
            replace(call, code=call.code.replace("const DEPTH = 30u", "const DEPTH = 1u"))
            for call in lowering.calls
        ]
        assert calls != list(lowering.calls)
        return replace(lowering, calls=tuple(calls))

    op = OpDef("matmul", matmul.infer, matmul.reference, lower=broken)
    tuner = Tuner(registry.gpu(0), [replace(SMALL, op=op)])
    tuner.measure_next()
    assert set(tuner.times["small"]) == set(VARIANTS["product"]) - {"registers_12x8"}
    assert tuner.tuning().product != "registers_12x8"


@pytest.mark.gpu
def test_a_probe_is_measured_in_pieces_and_begins_anew_after_a_pause() -> None:
    device = registry.gpu(0)
    before = device.host.stats()
    tuner, pieces = Tuner(device, [SMALL]), 0
    tuner.advance()
    tuner.advance()
    assert device.host.stats()["programs"] > before["programs"]
    tuner.pause()
    after = device.host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))
    assert not tuner.is_done
    while not tuner.is_done:
        tuner.advance()
        pieces += 1
    variants = len(VARIANTS["product"])
    # The reference, each variant, the heats, the choice of replays, the rounds, the end.
    assert pieces >= variants + HEATS + REPEATS
    assert tuner.times["small"].keys() <= set(VARIANTS["product"])


@pytest.mark.gpu
def test_a_variant_that_the_adapter_lacks_features_for_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host, "extra_features", lambda adapter: [])
    monkeypatch.setitem(VARIANTS, "product", ("registers_12x8", "quads_8x8"))
    (skinny,) = (probe for probe in PROBES if probe.name == "skinny product")
    tuner = Tuner(registry.gpu(0), [skinny])
    tuner.measure_next()
    assert set(tuner.times[skinny.name]) == {"registers_12x8"}


@pytest.mark.gpu
def test_where_time_is_limited_hopeless_variants_are_not_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of products and convolutions, which have the same variants; a full measurement keeps all."""
    slow = {"shared_64": 1.0, "blocks_8x8": 2.9, "registers_12x8": 3.1}
    for kind in ("product", "convolution"):
        monkeypatch.setitem(VARIANTS, kind, tuple(slow))
    again = replace(SMALL, name="again", kind="convolution")
    for patience, expected in ((1.0, {"shared_64", "blocks_8x8"}), (math.inf, set(slow))):
        tuner = Tuner(registry.gpu(0), [SMALL, again], patience)
        tuner.times["small"] = slow
        tuner.measure_next()
        assert set(tuner.times["again"]) == expected
