"""Measures `model.predict` of one image in the page, beside a training step of the same network.

python -m bench.predicting                  on cpu and on WebGPU
python -m bench.predicting --device gpu --hardware
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.browser import opened_tab

PROGRAM = """
import json, statistics, time
import playgrad as pg
from playgrad import nn

(x, y), _ = pg.data.mnist()
x, y = x[:640], y[:640]
ROUNDS = 5
STEPS = 10  # an epoch
DENSE = [nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dense(10)]
LENET = [
    nn.Reshape((28, 28, 1)),
    nn.Conv2D(6, 5, padding="same", activation="relu"), nn.MaxPool2D(2),
    nn.Conv2D(16, 5, activation="relu"), nn.MaxPool2D(2),
    nn.Flatten(), nn.Dense(120, activation="relu"), nn.Dense(84, activation="relu"), nn.Dense(10),
]

def measured(name, layers):
    model = pg.Sequential([nn.Rescaling(1 / 255), *layers])
    model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=64, epochs=1, verbose=0)
    began = time.perf_counter()
    model.predict(x[:1])
    first = time.perf_counter() - began
    steps, images = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        model.fit(x, y, batch_size=64, epochs=1, verbose=0)
        steps.append((time.perf_counter() - began) / STEPS)
        for number in range(40):
            began = time.perf_counter()
            model.predict(x[number : number + 1])
            images.append(time.perf_counter() - began)
    return {"network": name, "first": first, "image": statistics.median(images),
            "slowest": max(images), "step": statistics.median(steps)}

print("RESULT" + json.dumps([measured("dense", DENSE), measured("LeNet", LENET)]))
"""
DEVICES = ("cpu", "gpu")


def table(device: str, rows: list[dict[str, Any]]) -> str:
    """Return the results of a device as Markdown."""
    lines = []
    for row in rows:
        first, image, slowest, step = (
            f"{1000 * row[each]:.2f}" for each in ("first", "image", "slowest", "step")
        )
        ratio = f"{row['image'] / row['step']:.3f}"
        lines.append(
            f"| {row['network']} | {device} | {first} | {image} | {slowest} | {step} | {ratio} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--device", choices=DEVICES, action="append")
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU")
    options = parser.parse_args()
    print("| network | device | first ms | image ms | slowest | training step ms | image / step |")
    print("|---|---|---|---|---|---|---|")
    with opened_tab(300, options.hardware) as tab:
        for device in options.device or DEVICES:
            ran = tab.run_playgrad(PROGRAM, device)
            if "error" in ran:
                raise SystemExit(f"bench: {ran['error']}")
            print(table(device, ran["results"][0]), flush=True)


if __name__ == "__main__":
    main()
