"""The page's first answer to a drawing, in JavaScript, against playgrad with the same weights."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import playgrad as pg
from tools import digits

SIDE = Path(__file__).parent / "programs" / "first_reader.mjs"


def read(images: NDArray[np.float32], folder: Path) -> NDArray[np.float64]:
    """Return the probabilities that the page computes for ``images``, (count, 28, 28)."""
    file = folder / "images.bin"
    file.write_bytes(images.astype("<f4").tobytes())
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    command = [node, str(SIDE), str(digits.WEIGHTS), str(file)]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=500)
    return np.array(json.loads(answer.stdout))


def test_probabilities_match_playgrad(tmp_path: Path) -> None:
    _, (images, _) = pg.data.mnist()
    model = digits.build()
    model.load_weights(digits.WEIGHTS)
    scores = model.predict(images[:300, ..., None])
    expected = np.exp(scores - scores.max(-1, keepdims=True))
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(read(images[:300] / 255, tmp_path), expected, atol=1e-5)


def test_the_first_reader_recognizes_unseen_digits(tmp_path: Path) -> None:
    _, (images, labels) = pg.data.mnist()
    answers = read(images / np.float32(255), tmp_path).argmax(-1)
    assert np.mean(answers == labels) > 0.98
