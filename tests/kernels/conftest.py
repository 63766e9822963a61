"""Fixtures of the kernel tests: one adapter, opened without a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from playgrad.devices import _wgpu
from playgrad.devices.target import Target
from tests.kernels.harness import FAMILIES


@pytest.fixture(scope="session")
def shared_host() -> Iterator[_wgpu.WgpuHost]:
    host = _wgpu.open()
    yield host
    host.destroy()


@pytest.fixture
def host(shared_host: _wgpu.WgpuHost) -> Iterator[_wgpu.WgpuHost]:
    """The adapter; the test fails if it leaves a buffer or a program behind."""
    yield shared_host
    left = shared_host.stats()
    assert (left["buffers"], left["programs"]) == (0, 0)


@pytest.fixture(params=FAMILIES)
def target(request: pytest.FixtureRequest) -> Target:
    """Each family of kernels in turn, whatever the adapter would choose."""
    return FAMILIES[request.param]
