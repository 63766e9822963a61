"""The Python packages for programs in the page, with sizes and SHA-256, for
``playgrad.page.packages``. They come from the same places as Pyodide, which compiled them.

Their licences are in docs/page/program.md, and each wheel contains its own.
"""

from __future__ import annotations

from dataclasses import replace

from playgrad.assets.asset import Asset, File
from playgrad.assets.pins import PYODIDE

_PLATFORM = "cp314-cp314-pyemscripten_2026_0_wasm32"

PACKAGE_FILES = {
    "contourpy": File(
        f"contourpy-1.3.3-{_PLATFORM}.whl",
        117_562,
        "8af5f4338988b30a65f5c81c0a3f335353546809538e81d35b572ed4595f80b6",
    ),
    "cycler": File(
        "cycler-0.12.1-py3-none-any.whl",
        8_321,
        "3569bab200be7f85520bf64a3ff334b016e19441ba89b588d2625c3b89da09c7",
    ),
    "fonttools": File(
        "fonttools-4.62.1-py3-none-any.whl",
        1_152_647,
        "6d8caa09c191f26c47403499d6cff62f3fb9685b978baa047bf791862bcb298a",
    ),
    "kiwisolver": File(
        f"kiwisolver-1.5.0-{_PLATFORM}.whl",
        36_615,
        "7591db9cc1181815eeefb2e7c5b5622a18a3fa334788e1b49eb3e8ad7f90186f",
    ),
    "matplotlib": File(
        f"matplotlib-3.10.8-{_PLATFORM}.whl",
        6_972_262,
        "2867b2003ee66d0d2478423f783ec035d432c6560ae86d0e58d096ff98cab6a8",
    ),
    "packaging": File(
        "packaging-26.1-py3-none-any.whl",
        95_846,
        "2719239437268bcea22845651a242f2c252e2ed984645161dd203546f2a52219",
    ),
    "pandas": File(
        f"pandas-3.0.2-{_PLATFORM}.whl",
        4_183_474,
        "51475a2026084c3b600566658fffc95efc5a71593472ab8a561d92a504a15a3e",
    ),
    "pillow": File(
        f"pillow-12.2.0-{_PLATFORM}.whl",
        1_037_798,
        "a50d83a8a76d646768e99e93ed5bf365d0b83563fd8b597e77562e75c8f575a9",
    ),
    "pyparsing": File(
        "pyparsing-3.3.2-py3-none-any.whl",
        122_781,
        "101eece4e324f842bf46e6f821fe5bc62d79b9ebfa3b399b6aff0e0ab0ee400f",
    ),
    "python-dateutil": File(
        "python_dateutil-2.9.0.post0-py2.py3-none-any.whl",
        229_892,
        "e0dad39eec43965d30ef0dbe870617bd5a7ca795c65fda722a7ab2bbd2b747e3",
    ),
    "six": File(
        "six-1.17.0-py2.py3-none-any.whl",
        11_050,
        "c6681057bd87fdec57e811b8e4007bad38deea284052817fa400d542c6423e2d",
    ),
}
"""The wheel of each package, by the name in its URL."""

PACKAGES = Asset(
    title="the Python packages of the page",
    path=PYODIDE.path,
    files=tuple(PACKAGE_FILES.values()),
    sources=PYODIDE.sources,
)
"""Fetched when a program first imports one of them."""

PYODIDE_WITH_PACKAGES = replace(PYODIDE, files=PYODIDE.files + PACKAGES.files)
"""Both together, for programs that need them; they may be in one large wheel."""
