"""Names of devices, and how many there are of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import playgrad as pg
from playgrad.devices import logical, registry
from playgrad.devices.kinds import CPU, KINDS, canonical
from playgrad.errors import DeviceError


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    registry.reset_logical_devices()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_device_needs_no_number(kind: str) -> None:
    assert canonical(kind) == KINDS[kind].first == f"{kind}:0"


@pytest.mark.parametrize("counts", [{"tpu": 2}, {"cpu:0": 2}, {"cpu": 3, "gpu": 0}, {"cpu": True}])
def test_wrong_numbers_of_devices_change_none(counts: dict[str, int]) -> None:
    before = logical.device_names()
    with pytest.raises(DeviceError):
        pg.set_logical_devices(**counts)
    assert logical.device_names() == before


def test_another_kind_has_devices_by_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a compiled processor would: nothing asks for the letters of its name."""
    monkeypatch.setitem(KINDS, "native", CPU.__class__(**{**vars(CPU), "name": "native"}))
    registry.set_logical_devices(native=2)
    assert [name for name in logical.device_names() if "native" in name] == ["native:0", "native:1"]
    assert canonical("native") == "native:0"
