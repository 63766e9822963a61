"""Each illness is found where it is, the suggested edit cures it, and healthy nets have none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from playgrad import paths
from playgrad.doctor.checks import CHECKS
from playgrad.doctor.words import EDITS, SENTENCES, edit_in_words, sentence
from tests.doctor.programs import HEAD, HEALTHY, ILL, ILL_TOO
from tests.doctor.watched import Watched

EXAMPLES = ("first-program", "spiral", "used-car-prices", "citation-graph")
"""Of the gallery, those that train in about a second."""


@pytest.fixture
def opened() -> Iterator[list[Watched]]:
    """The programs that the test has run; closed at its end."""
    programs: list[Watched] = []
    yield programs
    for program in programs:
        program.close()


def test_each_illness_has_a_program_that_is_ill() -> None:
    codes = [check.__name__.replace("_", "-") for check in CHECKS]
    assert sorted(ILL) == sorted(codes)
    assert sorted([*codes, "not-seen"]) == sorted(SENTENCES)


@pytest.mark.parametrize("name", [*ILL, *ILL_TOO])
def test_an_illness_is_found_and_cured(name: str, opened: list[Watched]) -> None:
    ill, code = (ILL | ILL_TOO)[name], name.partition(":")[0]
    before = Watched(ill.text)
    opened.append(before)
    finding = next(each for each in before.findings if each.code == code)
    assert finding.place.line == ill.line
    assert ill.node in (None, finding.place.node)
    text = sentence(finding)
    assert text.endswith(".") and "None" not in text and "nan" not in text

    edit = next(each.edit for each in before.findings if each.edit is not None)
    assert edit.code == ill.edit and edit_in_words(edit)
    after = Watched(edit.applied(ill.text))
    opened.append(after)
    assert after.codes == []
    assert after.value(ill.measure) < ill.better * ill.loss(before)


@pytest.mark.parametrize("body", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_net_has_no_finding(body: str, opened: list[Watched]) -> None:
    opened.append(Watched(f"{HEAD}{body}"))
    assert opened[-1].codes == []
    assert all(not findings for findings, _ in opened[-1].reports)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_no_finding(name: str, opened: list[Watched]) -> None:
    path = paths.static() / "examples" / f"{name}.py"
    opened.append(Watched(path.read_text(encoding="utf-8"), str(path)))
    assert opened[-1].codes == []


def test_all_edits_of_the_programs_have_words() -> None:
    assert {ill.edit for ill in (ILL | ILL_TOO).values()} <= set(EDITS)


def test_the_page_has_words_for_all_codes() -> None:
    messages = (paths.static() / "js" / "messages" / "en.js").read_text(encoding="utf-8")
    text = messages[messages.index("\n  doctor: {") :]
    for table, codes in (("sentences", SENTENCES), ("edits", EDITS)):
        part = text[text.index(f"\n    {table}: {{") :]
        listed = re.findall(r'^      "?([a-z-]+)"?:', part[: part.index("\n    },")], re.MULTILINE)
        assert listed == list(codes)
