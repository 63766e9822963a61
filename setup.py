"""Places ``kernels/`` and ``static/`` inside the package when a wheel is built.

In a checkout, and so in an editable install, they stay beside it; ``playgrad.paths`` finds either.
"""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py

_ASSETS = ("kernels", "static")


class BuildWithAssets(build_py):
    """``build_py`` that also copies the asset folders, which lie outside the source root."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for name in _ASSETS:
            copytree(
                Path(__file__).parent / name,
                Path(self.build_lib, "playgrad", name),
                ignore=ignore_patterns("__pycache__"),
                dirs_exist_ok=True,
            )


setup(cmdclass={"build_py": BuildWithAssets})
