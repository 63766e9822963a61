"""``playgrad models``: the commands as a user types them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from playgrad.serving.servable import model_of
from playgrad.serving.store import ModelStore
from tests.cli.running import result_of, run
from tests.serving.serving import content, model

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files of models."""
    (tmp_path / "w.safetensors").write_bytes(content(model(1)))
    (tmp_path / "better.safetensors").write_bytes(content(model(2)))
    (tmp_path / "other.safetensors").write_bytes(content(model(3, features=7)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def states(capsys: Capture) -> list[tuple[int, str]]:
    return [(row["version"], row["state"]) for row in result_of(run(capsys, *LIST, "--json"))]


ADD = ("models", "add", "digits")
LIST = ("models", "list")
SET = ("models", "set", "digits")
ROLLBACK = ("models", "rollback", "digits")


def test_versions_are_added_listed_and_rolled_back(folder: Path, capsys: Capture) -> None:
    assert run(capsys, *LIST) == (
        0, "There are no models in models: playgrad models add NAME FILE\n", "",
    )  # fmt: skip
    assert run(capsys, *ADD, "w.safetensors")[1] == "digits: version 1 in models/digits/1\n"
    assert run(capsys, *ADD, "better.safetensors")[1] == "digits: version 2 in models/digits/2\n"
    assert states(capsys) == [(1, ""), (2, "served")]
    assert run(capsys, *ROLLBACK)[1] == "digits: now serving 1\n"
    assert states(capsys) == [(1, "served"), (2, "withdrawn")]
    assert run(capsys, *ROLLBACK)[2] == (
        "playgrad: DataError: there is no earlier version to go back to.\n"
    )
    assert run(capsys, *ROLLBACK, "--to", "2")[1] == "digits: now serving 2\n"
    (titles, one, two) = run(capsys, *LIST)[1].splitlines()
    assert titles.split() == ["model", "version", "added", "size", "state"]
    assert (one.split()[:2], two.split()[-1]) == (["digits", "1"], "served")


def test_files_of_pytorch_and_tensorflow_js_are_versions(folder: Path, capsys: Capture) -> None:
    exported = model(4)
    for ending in ("pt.zip", "tfjs.zip"):
        exported.export(folder / f"w.{ending}")
    with zipfile.ZipFile(folder / "w.tfjs.zip") as archive:
        archive.extractall(folder / "web")
    (folder / "w.tfjs.zip").rename(folder / "renamed.zip")
    x = np.ones((2, *exported.inputs[0].shape[1:]), np.float32)
    store = ModelStore(folder / "models")
    for number, name in enumerate(("w.pt.zip", "renamed.zip", "web/model.json", "web"), 1):
        done = run(capsys, *ADD, name, "--allow-new-signature")
        assert done[1] == f"digits: version {number} in models/digits/{number}\n", done
        manifest, stored = store.content("digits", number)
        loaded = model_of(stored, manifest.file)
        np.testing.assert_allclose(loaded.predict(x), exported.predict(x), rtol=1e-6)
    (folder / "web" / "weights.bin").unlink()
    assert "cannot read 'web/weights.bin'" in run(capsys, *ADD, "web")[2]
    (folder / "state.pt.zip").write_bytes(b"PK")
    assert "state.pt.zip is not a file" in run(capsys, *ADD, "state.pt.zip")[2]


def test_labels_and_policies_are_set(folder: Path, capsys: Capture) -> None:
    for name in ("w", "better"):
        run(capsys, *ADD, f"{name}.safetensors")
    labels = ("--label", "stable=1", "--label", "canary=2", "--share", "canary=0.1")
    assert run(capsys, *SET, *labels)[1] == "digits: now serving 1, 2\n"
    assert states(capsys) == [(1, "served, stable"), (2, "served, canary")]
    data = json.loads(Path("models/digits/serving.json").read_text())
    assert (data["labels"], data["shares"]) == ({"stable": 1, "canary": 2}, {"canary": 0.1})
    assert "label canary is on a version" in run(capsys, *ROLLBACK, "--to", "1")[2]
    removed = run(capsys, *SET, "--remove-label", "canary", "--remove-label", "stable")
    assert removed[1] == "digits: now serving 2\n"
    assert run(capsys, *SET, "--policy", "all")[1] == "digits: now serving 1, 2\n"
    assert run(capsys, *SET, "--versions", "1")[1] == "digits: now serving 1\n"
    for arguments, words in (
        (("--versions", "9"), "there is no version 9. There are: 1, 2."),
        (("--label", "x=9"), "there is no version 9"),
        (("--share", "x=0.5"), "there is no label 'x'"),
        (("--remove-label", "x"), "there is no label 'x' to remove"),
        (("--label", "a/b=1"), "labels have letters"),
    ):
        code, _, err = run(capsys, *SET, *arguments)
        assert (code, words in err) == (1, True), err


def test_a_changed_signature_needs_leave(folder: Path, capsys: Capture) -> None:
    run(capsys, *ADD, "w.safetensors")
    code, _, err = run(capsys, *ADD, "other.safetensors")
    assert code == 1
    assert "the inputs are input: float32 (?, 7) instead of input: float32 (?, 6)" in err
    assert "add --allow-new-signature" in err
    assert states(capsys) == [(1, "served")]
    assert run(capsys, *ADD, "other.safetensors", "--allow-new-signature")[0] == 0
    assert states(capsys) == [(1, ""), (2, "served")]


def test_files_that_cannot_be_served_are_not_added(folder: Path, capsys: Capture) -> None:
    Path("empty.safetensors").write_bytes(b"")
    Path("text.onnx").write_text("no model")
    np.savez("weights.npz", w=np.zeros(3))
    for name in ("empty.safetensors", "text.onnx", "weights.npz", "missing.onnx"):
        code, out, err = run(capsys, *ADD, name)
        assert (code, out, err.startswith("playgrad: CheckpointError: ")) == (1, "", True), err
    assert not Path("models").exists()
    for name in ("../x", "a/b", ""):
        assert "cannot name a model" in run(capsys, "models", "add", name, "w.safetensors")[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines: add --token-file"),
        (["--allow-host", "lab.example"], "add --token-file"),
        (["--max-batch", "0"], "'0' is not from 1 to 1,024"),
        (["--max-batch", "nan"], "is not from"),
        (["--request-seconds", "nan"], "is not from"),
        (["--max-body", "1e9"], "is not from"),
        (["--port", "99999"], "is not a port number"),
    ],
)
def test_wrong_usage_of_the_server(
    folder: Path, capsys: Capture, arguments: list[str], words: str
) -> None:
    code, _, err = run(capsys, "models", "serve", *arguments)
    assert (code, words in err) == (2, True), err


def test_what_a_server_needs(folder: Path, capsys: Capture) -> None:
    code, _, err = run(capsys, "models", "serve")
    assert (code, "there is no folder models" in err) == (1, True)
    Path("models").mkdir()
    Path("tokens").write_text("short\n")
    code, _, err = run(capsys, "models", "serve", "--port", "0", "--token-file", "tokens")
    assert (code, "tokens of at least 16 characters" in err) == (1, True)


def test_a_command_that_is_killed_leaves_the_folder_as_it_was(folder: Path) -> None:
    """SIGKILL comes when the model has been checked and its file is being written."""
    program = (
        "import os, signal; from playgrad.serving import store\n"
        "write = store._write\n"
        "def killed(path, content):\n"
        "    write(path, content[:len(content) // 2]); os.kill(os.getpid(), signal.SIGKILL)\n"
        "from playgrad.cli import main\n"
        "main(['models', 'add', 'digits', 'w.safetensors'])\n"
        "store._write = killed\n"
        "main(['models', 'add', 'digits', 'better.safetensors'])\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
    store = ModelStore(Path("models"))
    assert store.versions("digits") == [1]
    assert store.content("digits", 1)[1] == Path("w.safetensors").read_bytes()
