"""Each illness is found where it is, the suggested edit cures it, and healthy nets have none."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from playgrad import paths
from playgrad.doctor.checks import CHECKS
from playgrad.doctor.finding import Edit
from playgrad.doctor.first_layer import first_layer
from playgrad.doctor.program_text import ProgramText
from playgrad.doctor.words import EDITS, SENTENCES, edit_in_words, sentence
from tests.doctor.programs import HEAD, HEALTHY, ILL, ILL_TOO
from tests.doctor.watched import Watched
from tests.sweeps import dice, sweep

EXAMPLES = ("first-program", "spiral", "used-car-prices", "citation-graph")
"""Examples of the gallery that train in about a second."""


@pytest.fixture
def opened() -> Iterator[list[Watched]]:
    """The programs that the test has run; closed at its end."""
    programs: list[Watched] = []
    yield programs
    for program in programs:
        program.close()


def test_each_illness_has_a_program_and_a_sentence() -> None:
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
    cured = edit.applied(ill.text)
    after = Watched(cured)
    opened.append(after)
    assert after.value(ill.measure) < ill.better * ill.loss(before)
    for _ in range(2):  # a rate is raised step by step
        if after.codes == ["rate-low"]:
            cured = after.findings[0].edit.applied(cured)
            after = Watched(cured)
            opened.append(after)
    assert after.codes == []


RATES = [1e-8, 4e-6, 1e-5, 1e-4, 4e-4, 2e-3, 0.01]


@pytest.mark.parametrize("rate", sweep(RATES, dice("rates").sample(RATES, 2)))
def test_following_the_rate_advice_leads_to_a_rate_that_trains(
    rate: float, opened: list[Watched]
) -> None:
    text = (paths.static() / "examples" / "spiral.py").read_text(encoding="utf-8")
    text = text.replace("learning_rate=0.04", f"learning_rate={rate:g}")
    for _ in range(4):
        opened.append(Watched(text))
        finding = next(iter(opened[-1].findings), None)
        if finding is None:
            break
        assert finding.code == "rate-low" and finding.edit is not None
        assert finding.place.line == 26 and " is too small: " in sentence(finding)
        text = finding.edit.applied(text)
    assert opened[-1].codes == []
    assert opened[-1].value("history.history['val_accuracy'][-1]") >= 0.95


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


def test_the_input_of_a_functional_model_is_scaled_under_a_name_of_its_own() -> None:
    program = ProgramText(
        "scaled = 1\n"
        "points = pg.Input((3,))  # three numbers\n"
        "\n"
        "h = nn.Dense(4)(points)\n"
        "h = h + nn.Dense(4)(points)\n"
        "model = pg.Model(points, nn.Dense(2)(h))\n"
    )
    changes = sorted(first_layer(program, "nn.Rescaling(0.1)"), key=lambda c: (-c.line, -c.column))
    assert Edit("insert-first", {}, tuple(changes)).applied(program.text) == (
        "scaled = 1\n"
        "points = pg.Input((3,))  # three numbers\n"
        "\n"
        "scaled_ = nn.Rescaling(0.1)(points)\n"
        "h = nn.Dense(4)(scaled_)\n"
        "h = h + nn.Dense(4)(scaled_)\n"
        "model = pg.Model(points, nn.Dense(2)(h))\n"
    )
    for text in (
        "points = pg.Input((3,))\nmodel = pg.Model(points, points)\n" * 2,  # two models
        "a = pg.Input((3,))\nb = pg.Input((3,))\nmodel = pg.Model([a, b], a + b)\n",
        "model = make()\n",
    ):
        assert first_layer(ProgramText(text), "nn.Rescaling(0.1)") == []


def test_all_edits_of_the_programs_have_words() -> None:
    assert {ill.edit for ill in (ILL | ILL_TOO).values()} <= set(EDITS)


def test_the_page_has_words_for_all_codes() -> None:
    messages = (paths.static() / "js" / "messages" / "en.js").read_text(encoding="utf-8")
    text = messages[messages.index("\n  doctor: {") :]
    for table, codes in (("sentences", SENTENCES), ("edits", EDITS)):
        part = text[text.index(f"\n    {table}: {{") :]
        listed = re.findall(r'^      "?([a-z-]+)"?:', part[: part.index("\n    },")], re.MULTILINE)
        assert listed == list(codes)
