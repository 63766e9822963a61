"""Copies ``kernels/``, ``static/`` and the built documentation into the package of a wheel.

In a checkout and in an editable install they stay where they are: see ``playgrad.paths``.
"""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

_ROOT = Path(__file__).parent
# Folder in the package: folder in the checkout.
_ASSETS = {"kernels": "kernels", "static": "static", "docs": "var/docs"}
# Made by set-up, so they can be missing.
_GENERATED = (
    "static/bundled/manifest.json", "static/js/records/layers.js", "static/vendor/versions.js",
    "static/vendor/onnx-messages.zip", "var/docs/index.html",
)  # fmt: skip


def _check_generated() -> None:
    """Raise SystemExit unless the page's libraries and the documentation have been built."""
    for name in _GENERATED:
        if not (_ROOT / name).is_file():
            raise SystemExit(f"{name} is missing: run `make wheel`, which makes it first")


class BuildWithAssets(build_py):
    """``build_py`` that also copies the asset folders, which are outside the source root."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        _check_generated()
        for name, folder in _ASSETS.items():
            copytree(
                _ROOT / folder,
                Path(self.build_lib, "playgrad", name),
                ignore=ignore_patterns("__pycache__"),
                dirs_exist_ok=True,
            )


class SdistWithAssets(sdist):
    """``sdist`` with everything that a wheel needs, so that building one needs no Node."""

    def run(self) -> None:
        _check_generated()
        super().run()


setup(cmdclass={"build_py": BuildWithAssets, "sdist": SdistWithAssets})
