"""Modules of the standard library that a page fetches when a program imports one."""

from __future__ import annotations

import encodings
import sys
import zipfile
from pathlib import Path

import pytest

from playgrad.assets import PYODIDE
from playgrad.assets.codings import stored
from playgrad.page.later_modules import NAME, LaterModules

NOWHERE: list[str] = []
"""The path of a page, which has none of the modules."""


class Server:
    def __init__(self, problem: OSError | None = None) -> None:
        self.problem = problem
        self.asked = 0

    def fetch(self) -> bytes:
        self.asked += 1
        if self.problem:
            raise self.problem
        return (PYODIDE.folder() / NAME).read_bytes()


def test_parts_have_all_members_of_their_archives_that_programs_need() -> None:
    """And are as they are pinned, whoever has changed the table of the modules."""
    members: dict[str, list[str]] = {}
    for part in PYODIDE.parts:
        archive = (PYODIDE.folder() / part.archive).read_bytes()
        assert part.matches(stored(archive, part.has)), f"renew the pin of {part.name}"
        with zipfile.ZipFile(PYODIDE.folder() / part.name) as zipped:
            members.setdefault(part.archive, []).extend(zipped.namelist())
    for name, found in members.items():
        with zipfile.ZipFile(PYODIDE.folder() / name) as zipped:
            missing = set(zipped.namelist()) - set(found)
        assert len(found) == len(set(found))
        assert not [each for each in missing if each.endswith((".py", ".so", "/METADATA"))]
        assert not missing or name.startswith("numpy")


def test_modules_that_come_later_are_found_in_one_archive(tmp_path: Path) -> None:
    server = Server()
    finder = LaterModules(server.fetch, tmp_path)
    # The last ones are modules of packages that are there in part.
    for name in ("unittest", "xml.sax", "email.mime.text", "encodings.cp1250", "logging.config"):
        spec = finder.find_spec(name, NOWHERE)
        assert spec and spec.origin
        path = Path(spec.origin).relative_to(tmp_path / NAME).with_suffix("")
        assert ".".join(path.parts).removesuffix(".__init__") == name
    assert server.asked == 1


@pytest.mark.parametrize("name", ["tensorflow", "os", "email", "encodings", "json.tool", "xmlx"])
def test_nothing_is_fetched_for_other_modules(name: str, tmp_path: Path) -> None:
    server = Server()
    assert LaterModules(server.fetch, tmp_path).find_spec(name) is None
    assert server.asked == 0


def test_a_module_that_cannot_be_fetched_says_why_and_is_found_later(tmp_path: Path) -> None:
    server = Server(OSError("cannot load it from the page: this computer is offline"))
    finder = LaterModules(server.fetch, tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"'unittest': .* is offline") as raised:
        finder.find_spec("unittest", NOWHERE)
    assert raised.value.name == "unittest"
    server.problem = None
    assert finder.find_spec("unittest", NOWHERE)


def test_a_folder_does_not_hide_a_module_and_a_file_does(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "wave.py").write_text("")
    server = Server()
    finder = LaterModules(server.fetch, tmp_path)
    path = [str(tmp_path)]
    own, later = finder.find_spec("wave", path), finder.find_spec("trace", path)
    assert own and own.origin == str(tmp_path / "wave.py")
    assert later and later.origin and NAME in later.origin


def test_an_encoding_that_cannot_be_fetched_is_not_remembered_as_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(OSError("this computer is offline"))
    monkeypatch.delitem(sys.modules, "encodings.cp1006", raising=False)
    monkeypatch.setattr(sys, "meta_path", [LaterModules(server.fetch, tmp_path), *sys.meta_path])
    monkeypatch.setattr(encodings, "__path__", [])
    with pytest.raises(LookupError, match="'cp1006': this computer is offline"):
        "x".encode("cp1006")
    server.problem = None
    assert "x".encode("cp1006") == b"x"
