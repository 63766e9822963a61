"""The gallery has a picture, a sentence and a time for every example."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.server import create_app
from tools.gallery.__main__ import MAX_BYTES
from tools.gallery.drawing import HEIGHT, WIDTH
from tools.gallery.trained import PAINTERS

STATIC = paths.static()
FACTS: dict[str, dict[str, Any]] = json.loads(
    (STATIC / "gallery" / "examples.json").read_text(encoding="utf-8")
)
EXAMPLES = sorted(path.stem for path in (STATIC / "examples").glob("*.py"))
LONGEST = {"en": 100, "zh-Hans": 45}
"""Characters of a sentence, so that it takes three lines of a card."""


def _listed(module: str, pattern: str) -> list[str]:
    """Return the strings in the part of a module that ``pattern`` captures."""
    text = " ".join((STATIC / "js" / module).read_text(encoding="utf-8").split())
    match = re.search(pattern, text)
    assert match
    return re.findall(r'"?([\w-]+)"?(?=[,:\]]| ?$)', re.sub(r': "[^"]*"', ":", match[1]))


def _size(picture: bytes) -> tuple[int, int]:
    """Return width and height of a WebP image: RFC 9649, the lossy, lossless or extended format."""
    assert picture[:4] == b"RIFF" and picture[8:12] == b"WEBP"
    kind = picture[12:16]
    if kind == b"VP8X":  # the extended format, with a colour profile
        width, height = (int.from_bytes(picture[at : at + 3], "little") + 1 for at in (24, 27))
        return width, height
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", picture, 26)
        return width & 0x3FFF, height & 0x3FFF
    assert kind == b"VP8L"
    (bits,) = struct.unpack_from("<I", picture, 21)
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def test_the_gallery_has_exactly_the_examples() -> None:
    assert sorted(FACTS) == EXAMPLES
    assert sorted(PAINTERS) == EXAMPLES
    assert sorted(path.stem for path in (STATIC / "gallery").glob("*.webp")) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_has_a_sentence_in_both_languages_and_a_time(name: str) -> None:
    facts = FACTS[name]
    assert facts["kind"] in _listed("gallery/facts.js", r"KINDS = .*?\(\[(.*?),? \]\)")
    assert list(facts["sentence"]) == _listed("words/locale.js", r"LANGUAGES = .*?\{ (.*?),? \}\)")
    for language, sentence in facts["sentence"].items():
        assert 10 < len(sentence) <= LONGEST[language], sentence
        assert sentence[-1] in ".?。？", sentence
    assert re.search("[\u4e00-\u9fff]", facts["sentence"]["zh-Hans"])
    assert isinstance(facts["seconds"], int) and 1 <= facts["seconds"] < 600


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_has_a_small_picture(name: str) -> None:
    picture = (STATIC / "gallery" / f"{name}.webp").read_bytes()
    width, height = _size(picture)
    assert width * HEIGHT == height * WIDTH and width >= WIDTH
    assert 500 < len(picture) <= MAX_BYTES


@pytest.fixture
def client() -> FlaskClient:
    return create_app().test_client()


def test_the_page_gets_the_times_with_the_programs(client: FlaskClient) -> None:
    examples = client.get("/examples.json").json
    assert examples is not None
    assert {each["id"]: each["seconds"] for each in examples} == {
        name: facts["seconds"] for name, facts in FACTS.items()
    }


def test_pictures_are_cached_only_on_demand(client: FlaskClient) -> None:
    version = client.get("/version.json").json
    assert version is not None
    pictures = {f"/static/gallery/{name}.webp" for name in EXAMPLES}
    assert pictures <= set(version["extras"])
    assert not pictures & set(version["files"])
    assert "/static/gallery/examples.json" in version["files"]
    response = client.get(f"/static/gallery/{EXAMPLES[0]}.webp")
    assert (response.status_code, response.mimetype) == (200, "image/webp")
