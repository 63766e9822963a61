"""What `playgrad site` writes and refuses; a browser visits it in tests/browser/test_site.py."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from playgrad import paths
from playgrad.assets import PACKAGE_FILES
from playgrad.cli import main
from playgrad.server.site import SiteError, write_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host") / "course"
    write_site(folder, lite=True, say=lambda text: None)
    return folder


def listed(site: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((site / "version.json").read_bytes())
    return found


def bridge(site: Path) -> dict[str, Any]:
    """Return the table of the bridge that visitors of the site get."""
    content = (site / "files" / listed(site)["files"]["/names.json"]).read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(content))["bridge"]
    return found


def test_every_content_matches_its_name(site: Path) -> None:
    version = listed(site)
    files = {**version["files"], **version["extras"]}
    assert {path.name for path in (site / "files").iterdir()} == set(files.values())
    for path, digest in files.items():
        content = (site / "files" / digest).read_bytes()
        if path in version["packed"]:
            content = gzip.decompress(content)
        assert hashlib.sha256(content).hexdigest() == digest, path
        assert version["sent"][path]["Unencoded-Length"] == str(len(content))
    assert "Content-Security-Policy" in version["sent"]["/"]
    assert version["sent"]["/static/js/main.js"]["Content-Type"].startswith("text/javascript")
    left_out = ("/data/fashion", "/image/", "/packages/")
    assert not [path for path in files if path.startswith(left_out)]
    assert "pandas" in bridge(site)["libraries"], "what stands in for it is named"


def test_python_packages_are_added_on_request(site: Path, tmp_path: Path) -> None:
    larger = tmp_path / "course"
    shutil.copytree(site, larger)
    assert main(["site", str(larger), "--lite", "--packages"]) == 0
    extras = listed(larger)["extras"]
    for name, file in PACKAGE_FILES.items():
        assert extras[f"/packages/{name}"] == file.sha256
        assert (larger / "files" / file.sha256).is_file()
    assert "pandas" not in bridge(larger)["libraries"]


def test_the_first_page_allows_its_own_scripts_only(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert "default-src 'none'" in policy and "unsafe-inline" not in policy
    scripts = re.findall(r"<script[^>]*>(.+?)</script>", page, re.DOTALL)
    assert len(scripts) == 4
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "src=" not in page


def test_two_versions_are_there_at_most(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = site.parent / "static"
    shutil.copytree(paths.static(), static)
    monkeypatch.setattr(paths, "static", lambda: static)
    before = [listed(site)]
    for number in range(2):
        (static / "css" / "early.css").write_text(f"/* {number} */\n", encoding="utf-8")
        write_site(site, lite=True, say=lambda text: None)
        before.append(listed(site))
    pages = [version["files"]["/"] for version in before]
    assert len({version["version"] for version in before}) == 3
    assert [(site / "files" / page).is_file() for page in pages] == [False, True, True]

    # Written again, both stay; a damaged content is replaced.
    damaged = site / "files" / before[-1]["files"]["/names.json"]
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-9])
    write_site(site, lite=True, say=lambda text: None)
    assert damaged.read_bytes() == whole
    assert [(site / "files" / page).is_file() for page in pages] == [False, True, True]


def test_a_folder_with_other_things_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("the only copy", encoding="utf-8")
    for content in (None, "{}", "[]", "5", "no JSON"):
        if content is not None:
            (tmp_path / ".playgrad-site.json").write_text(content, encoding="utf-8")
        assert main(["site", str(tmp_path), "--lite"]) == 1
        assert "no version of a site" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "the only copy"
    with pytest.raises(SiteError, match="is a file"):
        write_site(tmp_path / "thesis.txt", lite=True)


def test_what_a_first_visit_fetches_is_counted_without_later_files(site: Path) -> None:
    written = write_site(site, lite=True, say=lambda text: None)
    later = re.compile(r"/(data|static/(gallery|weights|icons|vendor/onnx))|.*/python_stdlib_later")
    early = {each for path, each in listed(site)["files"].items() if not later.match(path)}
    others = ("index.html", "service-worker.js", "version.json")
    files = [*(site / "files" / each for each in early), *(site / each for each in others)]
    assert written.first_visit == sum(path.stat().st_size for path in files)


def test_what_others_put_into_a_site_stays(site: Path) -> None:
    others = [site / "CNAME", site / "files" / "thesis.txt", site / "docs" / "lesson.md"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("the only copy", encoding="utf-8")
    with pytest.raises(SiteError, match="docs is in the way"):
        write_site(site, lite=True, say=lambda text: None)
    (site / "docs").rename(site / "lessons")
    write_site(site, lite=True, say=lambda text: None)
    assert (site / "files" / "thesis.txt").exists() and (site / "CNAME").exists()


def test_an_unfinished_site_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()  # a repository for GitHub Pages
    with monkeypatch.context() as patch:
        patch.setattr("playgrad.server.site.gzip.compress", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_site(tmp_path, lite=True, say=lambda text: None)
    assert not (tmp_path / "version.json").exists()
    write_site(tmp_path, lite=True, say=lambda text: None)
    assert listed(tmp_path)["files"]


def test_a_site_without_built_documentation_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "docs", lambda: tmp_path / "docs")
    with pytest.raises(SiteError, match="--lite"):
        write_site(tmp_path / "site")
    assert not (tmp_path / "site").exists()
