"""System packages: browsers and a C compiler for the tests, and a Vulkan driver for wgpu.

root installs them with apt; other users are shown the command to run.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.setup.steps import SetupError, Step, run

_VULKAN_PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")
_COMPILER_PACKAGES = ("gcc", "libc6-dev")
_CHROMIUM_PACKAGE = "chromium-headless-shell"
CHROMIUM_NAMES = (_CHROMIUM_PACKAGE, "chromium", "chromium-browser", "google-chrome")
"""Programs for the tests, the best first: the shell has no window, and a page in it begins with a
tenth of the processor time."""
_LEAN_PACKAGES = ("firefox-esr",)
"""Packages that recommend what no test needs: codecs and drivers for films, 100 MB of them."""
_WEBKIT_PACKAGES = {"WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"}
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


def chromium() -> str | None:
    """Return the path of the Chromium that the tests drive."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def is_snap(program: Path) -> bool:
    """Return whether a program is a snap: a link to the launcher, or Ubuntu's script that calls it.

    A snap sees neither the profile nor the port that a test gives it.
    """
    program = program.resolve()
    with program.open("rb") as file:
        start = file.read(4096)
    return program.name == "snap" or (start.startswith(b"#!") and b"/snap/" in start)


def _missing_for_tests() -> list[str]:
    missing: list[str] = []
    can_install = shutil.which("apt-get") is not None and os.geteuid() == 0
    if not (shutil.which(_CHROMIUM_PACKAGE) if can_install else chromium()):
        missing.append(_CHROMIUM_PACKAGE)
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None or is_snap(Path(firefox)):
        missing.append("firefox-esr")
    if not _has_vulkan():
        missing += _VULKAN_PACKAGES
    if not shutil.which("gcc"):
        missing += _COMPILER_PACKAGES
    return missing


def _missing_by_night() -> list[str]:
    return [package for name, package in _WEBKIT_PACKAGES.items() if not shutil.which(name)]


def _command(packages: list[str], sudo: str = "sudo ") -> str:
    return f"{sudo}apt-get update && {sudo}apt-get install -y {' '.join(packages)}"


def _install(packages: list[str]) -> None:
    """Install with apt. Raises SetupError, with the command to run, if that is not possible."""
    if not shutil.which("apt-get"):
        raise SetupError(f"please install the equivalents of these packages: {' '.join(packages)}")
    if "firefox-esr" in packages and (snap := shutil.which("firefox")):
        raise SetupError(
            f"{snap} is a snap, which the tests cannot drive. Install firefox-esr (Debian), or "
            "Mozilla's package for Ubuntu: https://support.mozilla.org/kb/install-firefox-linux"
        )
    if os.geteuid() != 0:
        raise SetupError(f"system packages are missing; please run: {_command(packages)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", env=quiet)
    lean = [name for name in packages if name in _LEAN_PACKAGES]
    others = [name for name in packages if name not in _LEAN_PACKAGES]
    for names, options in ((others, []), (lean, ["--no-install-recommends"])):
        if names:
            run("apt-get", "install", "-y", "-qq", *options, *names, env=quiet)


def test_step() -> Step:
    """Return the step that installs what tests need: browsers, a Vulkan driver and a compiler."""
    return _step("test", _missing_for_tests)


def night_step() -> Step:
    """Return the step that installs WebKit with its driver, which tests need by night."""
    return _step("nightly", _missing_by_night, after=["system packages for test"])


def _step(scope: str, missing: Callable[[], list[str]], after: Sequence[str] = ()) -> Step:
    def make() -> None:
        if packages := missing():
            _install(packages)
        if packages := missing():
            raise SetupError(f"still missing after the installation: {' '.join(packages)}")

    return Step(f"system packages for {scope}", [" ".join(missing())], [], make, after)
