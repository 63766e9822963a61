"""Measures products and convolutions of int8 beside those of float32, each with its bias and ReLU.

python -m bench.quantized                        on the desktop and in the page
python -m bench.quantized --parts page --hardware

Inputs and weights are on the device. A run computes the whole result, and fetches a part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from bench.browser import opened_tab
from bench.paths import ROOT

PROGRAM = """
import json, statistics, time
import numpy as np
import playgrad as pg

SECONDS = {seconds}
WINDOW = {"padding": ((1, 1), (1, 1))}
PRODUCTS = {
    "64 × 784 × 128": ((64, 784), (784, 128)),
    "256 × 1024 × 1024": ((256, 1024), (1024, 1024)),
    "1 × 1024 × 1024": ((1, 1024), (1024, 1024)),
}
CONVOLUTIONS = {  # groups, images, filters
    "3 × 3, 1 to 16 channels of 64 × 28 × 28": (1, (64, 28, 28, 1), (3, 3, 1, 16)),
    "3 × 3, 16 to 32 channels of 32 × 28 × 28": (1, (32, 28, 28, 16), (3, 3, 16, 32)),
    "3 × 3, 64 channels of 8 × 28 × 28": (1, (8, 28, 28, 64), (3, 3, 64, 64)),
    "3 × 3, 64 channels of 8 × 28 × 28, depthwise": (64, (8, 28, 28, 64), (3, 3, 1, 64)),
}
random = np.random.default_rng(0)


def whole(kind, low, high, *shape):
    return random.integers(low, high, shape).astype(kind)


def pair(groups, x, w):
    outputs = w[-1]
    x, w = whole("int8", -128, 128, *x), whole("int8", -127, 128, *w)
    bias, multiplier = whole("int32", -999, 999, outputs), whole("int32", 2**30, 2**31 - 1, outputs)
    shift = np.full(outputs, 40, np.int32)
    held = [pg.Variable(each, dtype=each.dtype) for each in (x, w, bias, multiplier, shift)]
    floats = [pg.Variable(each.astype(np.float32)) for each in (x, w, bias)]
    if groups is None:
        product, result = floats[0] @ floats[1], pg.quantized_matmul(*held, zero_point=0, low=0)
    else:
        product = pg.conv2d(*floats[:2], padding=WINDOW["padding"], groups=groups)
        result = pg.quantized_conv2d(*held, **WINDOW, groups=groups, zero_point=0, low=0)
    row = pg.constant([0], "int32")
    return [pg.gather(each, row) for each in (pg.relu(product + floats[2]), result)]


def measured(groups, x, w):
    with pg.Graph().as_default():
        tensors = pair(groups, x, w)
        with pg.Session() as session:
            for tensor in tensors * 2:
                session.run(tensor)
            times, began = ([], []), time.perf_counter()
            while time.perf_counter() - began < SECONDS or len(times[0]) < 5:
                for each, tensor in zip(times, tensors):  # in turn, as load varies
                    started = time.perf_counter()
                    session.run(tensor)
                    each.append(time.perf_counter() - started)
    return [statistics.median(each) for each in times]


results = {name: measured(None, *shapes) for name, shapes in PRODUCTS.items()}
results |= {name: measured(*sizes) for name, sizes in CONVOLUTIONS.items()}
print("RESULT" + json.dumps(results))
"""
DEVICES = ("cpu", "gpu")


def on_desktop(source: str, device: str) -> dict[str, Any]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "app")]),
        "PLAYGRAD_DEVICE": device,
    }
    command = [sys.executable, "-c", source]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    result: dict[str, Any] = json.loads(ran.stdout.rpartition("RESULT")[2])
    return result


def table(host: str, device: str, results: dict[str, tuple[float, float]]) -> str:
    """Return the results of a device as rows of Markdown."""
    return "\n".join(
        f"| {host} | {device} | {name} | {1e3 * single:.2f} | {1e3 * quantized:.2f} "
        f"| {single / quantized:.2f} |"
        for name, (single, quantized) in results.items()
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.quantized")
    parser.add_argument("--parts", nargs="+", default=["desktop", "page"])
    parser.add_argument("--device", choices=DEVICES, action="append")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU in the page")
    options = parser.parse_args(arguments)
    source = PROGRAM.replace("{seconds}", str(options.seconds))
    devices = options.device or DEVICES
    print("| host | device | rows × in × out, or images | float32, ms | int8, ms | times as fast |")
    print("|---|---|---|---:|---:|---:|")
    if "desktop" in options.parts:
        for device in devices:
            print(table("desktop", device, on_desktop(source, device)), flush=True)
    if "page" in options.parts:
        with opened_tab(300, options.hardware) as tab:
            for device in devices:
                ran = tab.run_playgrad(source, device)
                if "error" in ran:
                    raise SystemExit(f"bench: {ran['error']}")
                print(table("page", device, ran["results"][0]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
