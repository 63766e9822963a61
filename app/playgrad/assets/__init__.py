"""Files too large for a wheel, fetched on first use: the Pyodide runtime and data sets.

Used on the desktop only; the bundle for the browser leaves it out.
"""

from playgrad.assets.asset import Asset, File
from playgrad.assets.download import DownloadError, fetch
from playgrad.assets.packages import PACKAGE_FILES, PACKAGES
from playgrad.assets.pins import (
    DATA_SETS,
    FASHION_MNIST,
    MNIST,
    PYODIDE,
    PYODIDE_URL,
    PYODIDE_VERSION,
)  # fmt: skip

__all__ = [
    "DATA_SETS", "FASHION_MNIST", "MNIST", "PACKAGES", "PACKAGE_FILES", "PYODIDE", "PYODIDE_URL",
    "PYODIDE_VERSION",
    "Asset", "DownloadError", "File", "fetch",
]  # fmt: skip
