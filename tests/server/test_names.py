"""The file of names that the editor reads: complete, small, and true of the library."""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from typing import Any

from flask.testing import FlaskClient

import playgrad as pg
from playgrad.server.api import MODULES
from playgrad.server.names import describe_names, first_sentence, names_content

NAMES = describe_names()


def value(name: str) -> Any:
    item: Any = pg
    for part in name.split("."):
        item = getattr(item, part)
    return item


def test_every_public_name_is_there() -> None:
    for module in MODULES:
        prefix = module.__name__.removeprefix("playgrad").removeprefix(".")
        for name in module.__all__:
            assert f"{prefix}.{name}".removeprefix(".") in NAMES
        for name in NAMES[prefix]["x"]:
            assert name not in module.__all__
            assert hasattr(module, name) or find_spec(f"{module.__name__}.{name}")


def test_names_exist_and_take_these_arguments() -> None:
    for name, entry in NAMES.items():
        if not name:
            continue
        target = NAMES[entry["a"]] if "a" in entry else entry
        assert target.get("d"), f"{name} has no text"
        if target["k"] in "cfo":
            value(name)
        if target["k"] in "cf":
            parameters = inspect.signature(value(name)).parameters
            positional = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
            listed = [each[0] for each in target["p"]]
            assert listed[: len(positional)] == [n for n in positional if n != "self"], name


def test_names_describe_arguments_bases_and_attributes() -> None:
    assert NAMES["nn.Dense"]["p"][0] == ["units", None, "int", "number of outputs per sample."]
    assert NAMES["Sequential"]["b"] == ["Model"]
    assert NAMES["Model.fit"]["r"] == "History"
    assert NAMES["nn.AveragePooling2D"] == {"a": "nn.AveragePool2D"}
    assert NAMES["nn.History.history"]["k"] == "p"
    adam = {each[0]: each for each in NAMES["optim.Adam"]["p"]}
    assert adam["clipnorm"][3].startswith("the largest norm"), "options are spelled out"
    assert not any(name.startswith("*") for name in adam)


def test_first_sentence_of_a_docstring_is_extracted() -> None:
    assert first_sentence("One sentence.") == "One sentence."
    assert first_sentence("A rate\nof 0.5 here. And more.\n\nMore.") == "A rate of 0.5 here."
    assert first_sentence("no end") == "no end"


def test_the_name_list_is_small_and_revalidated(client: FlaskClient) -> None:
    packed = client.get("/names.json", headers={"Accept-Encoding": "gzip"})
    assert len(packed.data) < 52 * len(NAMES), "the file is fetched before the first suggestion"
    assert packed.headers["Content-Encoding"] == "gzip"
    plain = client.get("/names.json", headers={"Accept-Encoding": "identity"})
    assert plain.data == names_content().plain
    assert plain.json is not None and plain.json["names"].keys() == NAMES.keys()
    assert plain.headers["ETag"] != packed.headers["ETag"]
    again = client.get(
        "/names.json",
        headers={"If-None-Match": plain.headers["ETag"], "Accept-Encoding": "identity"},
    )
    assert again.status_code == 304
