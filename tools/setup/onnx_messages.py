"""The message classes of ONNX: an archive in ``static/vendor`` from which Python imports.

It contains protobuf in pure Python, and the one module of the onnx package that is needed. Where
another protobuf is installed, it is used: see ``playgrad.interchange.onnx.messages``.

The step runs ``python -m tools.setup.onnx_messages`` in the virtual environment, which needs only
pip.
"""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

from tools.setup import light
from tools.setup.node import VENDOR
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, Step, run

ARCHIVE = VENDOR / "onnx-messages.zip"

PROTOBUF, ONNX = "7.36.2", "1.23.2"
"""Versions; a test compares them with the desktop's in ``constraints.txt``."""
_WHEEL = f"protobuf-{PROTOBUF}-py3-none-any.whl"
_MODULE = "onnx/onnx_ml_pb2.py"
_LICENCES = f"onnx-{ONNX}.dist-info/licenses"
_UNUSED = ("benchmark.py", "testing_refleaks.py")


def step() -> Step:
    inputs = [Path(__file__), *sorted((ROOT / "app" / "playgrad" / "assets").glob("*.py"))]
    return Step(
        "ONNX messages",
        inputs,
        [ARCHIVE],
        lambda: run(PYTHON, "-m", "tools.setup.onnx_messages"),
        after=["virtual environment", "browser modules"],
    )


def main() -> None:
    light.make_importable()
    from playgrad.assets import Asset, File, fetch
    from playgrad.assets.sources import PureWheel, PythonWheel

    wheel = File(
        _WHEEL, 179_806, "bdb3a345d48db958e6ce1f18e508beb0cc981d64f24088427549c866cd039f1e"
    )
    module = File(
        _MODULE, 16_067, "6dfb5075c9c267d61040d9b510b9412ad163567e258e0a36719b5ea3fa3e8432"
    )
    licence = File(
        f"{_LICENCES}/LICENSE",
        11_358,
        "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
    )
    notice = File(
        f"{_LICENCES}/NOTICE",
        2_133,
        "a4a6f2d7c4df16d4478df326169800219a6b4f51ce6f9a86074cc467e8adab28",
    )
    protobuf = fetch(
        Asset(
            f"protobuf {PROTOBUF}",
            "onnx/protobuf",
            (wheel,),
            (PureWheel(f"protobuf=={PROTOBUF}"),),
        )
    )
    onnx = fetch(
        Asset(
            f"onnx {ONNX}",
            "onnx/onnx",
            (module, licence, notice),
            (PythonWheel(f"onnx=={ONNX}", "", megabytes=18),),
        )
    )
    files = _protobuf_files(protobuf / _WHEEL)
    files["onnx_ml_pb2.py"] = (onnx / _MODULE).read_bytes()
    for text in ("LICENSE", "NOTICE"):
        files[f"onnx-{text}.txt"] = (onnx / _LICENCES / text).read_bytes()
    ARCHIVE.write_bytes(_packed(files))


def _protobuf_files(wheel: Path) -> dict[str, bytes]:
    """Return the modules of protobuf, and its licence."""
    with zipfile.ZipFile(wheel) as archive:
        files = {
            name: archive.read(name)
            for name in sorted(archive.namelist())
            if name.startswith("google/") and name.endswith(".py") and not name.endswith(_UNUSED)
        }
        licence = f"protobuf-{PROTOBUF}.dist-info/LICENSE"
        return {"google/": b"", **files, "protobuf-LICENSE.txt": archive.read(licence)}


def _packed(files: dict[str, bytes]) -> bytes:
    """Return an archive with ``files``, which depends on nothing else.

    A folder is a name that ends in "/": Python imports namespace packages only from such.
    """
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED if name.endswith("/") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return content.getvalue()


if __name__ == "__main__":
    main()
