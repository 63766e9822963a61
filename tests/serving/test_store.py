"""The folder of models: versions are whole or not there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from playgrad.errors import DataError, ReadError
from playgrad.serving import store as store_module
from playgrad.serving.choice import ServingChoice, read_choice, write_choice
from playgrad.serving.names import version_of
from playgrad.serving.store import MANIFEST, ModelStore

SIGNATURE = {"inputs": [], "outputs": []}


def add(store: ModelStore, content: bytes = b"weights", name: str = "digits") -> int:
    return store.add(name, "model.safetensors", content, SIGNATURE)


def test_versions_are_numbered_and_read_back(store: ModelStore) -> None:
    assert store.models() == []
    assert [add(store, b"one"), add(store, b"two")] == [1, 2]
    assert (store.models(), store.versions("digits")) == (["digits"], [1, 2])
    manifest, content = store.content("digits", 2)
    assert (manifest.file, manifest.size, content) == ("model.safetensors", 3, b"two")


def test_writers_at_the_same_time_get_numbers_of_their_own(store: ModelStore) -> None:
    numbers: list[int] = []
    threads = [
        threading.Thread(target=lambda i=i: numbers.append(add(store, bytes([i]))))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == store.versions("digits") == list(range(1, 9))
    assert {store.content("digits", number)[1] for number in numbers} == {
        bytes([i]) for i in range(8)
    }


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", "/etc", "a b", "a.b", "ä", "-a", "a" * 65, "a\0"]
)
def test_names_that_could_leave_the_folder_are_refused(store: ModelStore, name: str) -> None:
    with pytest.raises(DataError, match="cannot name a model"):
        add(store, name=name)
    with pytest.raises(DataError, match="cannot name a model"):
        store.versions(name)
    assert not store.folder.exists()


@pytest.mark.parametrize("text", ["0", "01", "-1", "1.0", "1e3", "٣", "1" * 10, "", " 1", "1\n"])
def test_numbers_of_versions_are_plain(text: str) -> None:
    assert version_of(text) is None


KILLED = """
import os, signal, sys
from pathlib import Path
from playgrad.serving.store import ModelStore
place, folder = sys.argv[1:]
def trace(frame, event, argument):
    # The process ends before the line that begins so, as a power cut would end it.
    if event == "line" and frame.f_code.co_filename.endswith("serving/store.py"):
        line = lines[frame.f_lineno - 1].strip()
        if line.startswith(place):
            os.kill(os.getpid(), signal.SIGKILL)
    return trace
import playgrad.serving.store as module
lines = Path(module.__file__).read_text().splitlines()
sys.settrace(trace)
ModelStore(Path(folder)).add("digits", "model.safetensors", b"new" * 100_000, {})
"""


@pytest.mark.parametrize(
    "place", ["_write(partial / file_name", "file.flush()", "_write(partial / MANIFEST",
              "partial.rename(", "sync_folder(partial.parent)"],
)  # fmt: skip
def test_a_writer_that_is_killed_leaves_a_whole_version_or_none(
    store: ModelStore, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, b"old")
    command = [sys.executable, "-c", KILLED, place, str(store.folder)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    has_taken_its_number = place == "sync_folder(partial.parent)"
    assert store.versions("digits") == ([1, 2] if has_taken_its_number else [1])
    assert store.content("digits", 1)[1] == b"old"
    if has_taken_its_number:
        assert store.content("digits", 2)[1] == b"new" * 100_000
        return
    (partial,) = store.model_folder("digits").glob(".adding-*")
    monkeypatch.setattr(store_module, "_ABANDONED_SECONDS", -1)
    assert add(store, b"next") == 2
    assert not partial.exists()


def test_a_full_disk_leaves_nothing(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        add(store)
    assert list(store.model_folder("digits").iterdir()) == []


def test_half_copied_folders_are_recognized(store: ModelStore) -> None:
    add(store, b"weights" * 1000)
    whole = store.version_folder("digits", 1)
    copy = store.version_folder("digits", 2)
    copy.mkdir()
    with pytest.raises(ReadError, match=r"version\.json cannot be read"):
        store.content("digits", 2)
    shutil.copy(whole / MANIFEST, copy)
    with pytest.raises(ReadError, match=r"model\.safetensors cannot be read"):
        store.content("digits", 2)
    before = store.stamp("digits", 2)
    (copy / "model.safetensors").write_bytes(b"weights" * 999)
    assert store.stamp("digits", 2) != before
    with pytest.raises(ReadError, match=r"has 6,993 bytes, but should have 7,000.*truncated"):
        store.content("digits", 2)
    (copy / "model.safetensors").write_bytes(b"weighty" * 1000)
    with pytest.raises(ReadError, match="differs from its digest"):
        store.content("digits", 2)
    shutil.copy(whole / "model.safetensors", copy)
    assert store.content("digits", 2)[1] == b"weights" * 1000


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../../secret"}, {"file": "/etc/passwd"}, {"file": ""}, {"file": ".."},
        {"file": MANIFEST}, {"file": 3}, {"size": -1}, {"size": "7"}, {"size": 1 << 60},
        {"sha256": None},
        {"signature": []}, {"format": 2}, {"more": 1}, {"added": "now"},
    ],
)  # fmt: skip
def test_damaged_manifests_are_refused(store: ModelStore, change: dict[str, object]) -> None:
    add(store)
    path = store.version_folder("digits", 1) / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ReadError, match=re.escape(MANIFEST)):
        store.manifest("digits", 1)


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"{", b"[" * 100_000, b"\xff"])
def test_manifests_that_are_not_json_are_refused(store: ModelStore, text: bytes) -> None:
    add(store)
    (store.version_folder("digits", 1) / MANIFEST).write_bytes(text)
    with pytest.raises(ReadError):
        store.manifest("digits", 1)


# The choice of versions


def test_rollback_withdraws_until_a_later_version_is_added() -> None:
    choice = ServingChoice().rolled_back([1, 2, 3])
    assert choice.served([1, 2, 3]) == [2]
    assert choice.rolled_back([1, 2, 3]).served([1, 2, 3]) == [1]
    assert choice.served([1, 2, 3, 4]) == [4]
    assert choice.rolled_back([1, 2, 3], to=3).served([1, 2, 3]) == [3]
    with pytest.raises(DataError, match="no earlier version"):
        ServingChoice().rolled_back([1])
    with pytest.raises(DataError, match="no version 7"):
        choice.rolled_back([1, 2, 3], to=7)
    with pytest.raises(DataError, match="label stable is on a version"):
        ServingChoice(labels={"stable": 3}).rolled_back([1, 2, 3])


def test_policies_and_labels_choose_versions() -> None:
    assert ServingChoice("all", withdrawn=[3]).served([1, 2, 3]) == [1, 2]
    assert ServingChoice("specific", versions=[1, 3, 9]).served([1, 2, 3]) == [1, 3]
    assert ServingChoice(labels={"stable": 1}).served([1, 2, 3]) == [1, 3]


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b'{"policy": "none"}', b'{"policy": "specific"}', b'{"labels": {"a/b": 1}}',
        b'{"labels": {"a": 0}}', b'{"labels": {"a": true}}', b'{"shares": {"a": 0.5}}',
        b'{"labels": {"a": 1}, "shares": {"a": 1.5}}', b'{"withdrawn": 5}', b'{"other": 1}',
        b'{"labels": {"a": 1, "b": 2}, "shares": {"a": 0.6, "b": 0.6}}', b'{"labels": []}',
    ],
)  # fmt: skip
def test_damaged_choices_are_refused(store: ModelStore, text: bytes) -> None:
    add(store)
    (store.model_folder("digits") / "serving.json").write_bytes(text)
    with pytest.raises(ReadError, match=r"serving\.json cannot be used"):
        read_choice(store, "digits")


def test_a_choice_is_read_back(store: ModelStore) -> None:
    add(store)
    choice = ServingChoice("all", labels={"stable": 1}, shares={"stable": 0.25})
    write_choice(store, "digits", choice)
    read = read_choice(store, "digits")
    assert (read.policy, read.labels, read.shares) == ("all", {"stable": 1}, {"stable": 0.25})
    assert read_choice(ModelStore(Path("nowhere")), "digits") == ServingChoice()
