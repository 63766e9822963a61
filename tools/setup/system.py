"""System packages: Chromium for the browser tests, and a Vulkan driver for wgpu.

root installs them with apt; other users are shown the command to run.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path

from tools.setup.steps import SetupError, Step, run

_VULKAN_PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")
_CHROMIUM_PACKAGES = ("chromium",)
_DRIVER_FOLDERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")


def _has_vulkan() -> bool:
    """Return whether wgpu can find an adapter: macOS has Metal, other systems need Vulkan."""
    if sys.platform == "darwin":
        return True
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return False
    return any(path for folder in _DRIVER_FOLDERS for path in Path(folder).glob("*.json"))


def _missing_for_tests() -> list[str]:
    missing: list[str] = []
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        missing += _CHROMIUM_PACKAGES
    if not _has_vulkan():
        missing += _VULKAN_PACKAGES
    return missing


def _command(packages: list[str], sudo: str = "sudo ") -> str:
    return f"{sudo}apt-get update && {sudo}apt-get install -y {' '.join(packages)}"


def _install(packages: list[str]) -> None:
    """Install with apt. Raises SetupError, with the command to run, if that is not possible."""
    if not shutil.which("apt-get"):
        raise SetupError(f"please install the equivalents of these packages: {' '.join(packages)}")
    if os.geteuid() != 0:
        raise SetupError(f"system packages are missing; please run: {_command(packages)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", env=quiet)
    run("apt-get", "install", "-y", "-qq", *packages, env=quiet)


def test_step() -> Step:
    """Return the step that installs Chromium and a Vulkan driver, which the tests need."""

    def make() -> None:
        missing = _missing_for_tests()
        if missing:
            _install(missing)
        still_missing = _missing_for_tests()
        if still_missing:
            raise SetupError(f"still missing after the installation: {' '.join(still_missing)}")

    return Step("system packages for test", [" ".join(_missing_for_tests())], [], make)
