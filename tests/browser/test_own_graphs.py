"""A graph of the visitor: two tables are dropped, trained on, drawn with names, and kept."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from playgrad import data
from tests.browser.playground import Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

_DROP = """(files) => {
  const dataTransfer = new DataTransfer();
  for (const [name, content] of files) dataTransfer.items.add(new File([content], name));
  const target = document.querySelector("[data-testid=editor] .cm-content");
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
NUMBER = 30


def people() -> str:
    """Two circles of friends; every fifth person's club is not known."""
    rows = io.StringIO()
    rows.write("name,age,remark,club\n")
    for i in range(NUMBER):
        club = "" if i % 5 == 4 else ("chess", "go")[i % 2]
        rows.write(f"person {i},{20 + 10 * (i % 2) + i % 3},likes {i},{club}\n")
    return rows.getvalue()


def calls() -> str:
    """Each calls the next but one, who is in the same club."""
    return "from,to\n" + "".join(f"person {i},person {(i + 2) % NUMBER}\n" for i in range(NUMBER))


@pytest.fixture(scope="module")
def visitor(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    opened = Playground(chromium, desk_server)
    opened.choose_device("cpu")
    opened.expect_status("ready")
    yield opened
    opened.close()


def open_entry(visitor: Playground, name: str) -> None:
    visitor.at("data-open").click()
    expect(visitor.page.locator(f"[data-testid=data-entry][data-name='{name}']")).to_be_visible()


def test_two_dropped_tables_are_trained_on_and_drawn_with_names(
    visitor: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visitor.page
    page.evaluate(_DROP, [["calls.csv", calls()], ["people.csv", people()]])
    expect(visitor.at("graph-summary")).to_contain_text("30 nodes, 30 edges, 1 feature each")
    expect(visitor.at("graph-summary")).to_contain_text("24 of the nodes have one of 2 classes")
    expect(visitor.at("graph-form")).to_contain_text("Left out as free text: remark.")
    for choice, column in {"id": "name", "label": "club", "source": "from"}.items():
        expect(visitor.at(f"graph-{choice}")).to_have_value(column)
    saved = visitor.download("data-save", tmp_path)
    visitor.at("graph-begin").click()
    output = visitor.finish()
    assert "right: 100% of the nodes that test" in output and "person 4: chess" in output
    expect(visitor.at("nodes-score")).to_contain_text(re.compile(r"100(\.0)?% of \d others"))

    # The legend and the node in hand have names of the tables.
    expect(visitor.at("nodes-picture")).to_have_attribute("data-settled", "")
    expect(page.locator(".nodes-legend")).to_contain_text(re.compile("chess 15go 15"))
    visitor.at("nodes").focus()
    page.keyboard.press("Home")
    expect(visitor.at("nodes-one")).to_contain_text("person 0, trains")
    expect(visitor.at("nodes-one")).to_contain_text("person 2, chess")
    expect(visitor.at("nodes-spoken")).to_contain_text("predicted chess")

    # The same line finds the saved file on the desktop.
    monkeypatch.chdir(tmp_path)
    graph = data.load_graph(saved.stem)
    assert graph.classes == ["chess", "go"] and graph.names[4] == "person 4"
    assert not graph.labelled[4] and graph.edge_index.shape == (2, 60)

    page.reload()
    visitor.expect_status("done", "ready")
    open_entry(visitor, "people")
    expect(visitor.at("data-list")).to_contain_text("30 nodes, 30 edges, 1 feature each.")
    visitor.at("data-close").click()
    assert "right: 100%" in visitor.finish()
    expect(page.locator(".nodes-legend")).to_contain_text("chess 15")


def test_a_project_brings_its_graph(visitor: Playground, tmp_path: Path) -> None:
    visitor.at("project-menu").click()
    project = visitor.download("project-save", tmp_path)
    open_entry(visitor, "people")
    visitor.at("data-entry-remove").click()
    visitor.at("data-entry-remove-confirm").click()
    expect(visitor.at("data-entry")).to_have_count(0)
    visitor.at("data-close").click()
    expect(visitor.at("data-note")).to_contain_text("people")
    visitor.at("project-menu").click()
    with visitor.page.expect_navigation():
        visitor.at("project-open-file").set_input_files(project)
    visitor.expect_status("ready", "done")
    expect(visitor.at("data-note")).to_have_count(0)
    open_entry(visitor, "people")
    visitor.at("data-close").click()


def test_what_is_wrong_is_said_with_file_and_line_and_mended(
    visitor: Playground, tmp_path: Path
) -> None:
    """One file after the other: the edges are recognized, and the nodes are asked for."""
    nodes, edges = tmp_path / "members.csv", tmp_path / "links.csv"
    nodes.write_text(people().replace("name,", "who,"))
    edges.write_text(calls() + "person 1,nobody\n")
    visitor.at("data-open").click()
    visitor.at("data-file").set_input_files(edges)
    expect(visitor.at("graph-offer")).to_contain_text("looks like the edges of a graph")
    visitor.at("graph-add-file").set_input_files(nodes)
    problem = visitor.at("data-problem")
    expect(problem).to_contain_text("links.csv, line 32: node 'nobody' is not in members.csv.")
    expect(visitor.at("graph-begin")).to_have_count(0)
    visitor.at("graph-label").select_option("none")
    expect(problem).to_contain_text("members.csv: no column says of which class a node is.")
    visitor.at("data-back").click()
    edges.write_text(calls())
    visitor.at("data-file").set_input_files([nodes, edges])
    visitor.at("graph-label").select_option("age")
    expect(visitor.at("graph-summary")).to_contain_text("one of 6 classes")
    visitor.at("graph-feature").check()
    expect(problem).to_contain_text("members.csv, line 6: the cell of 'club' is empty.")
    visitor.at("graph-feature").uncheck()
    visitor.at("graph-directed").check()
    expect(visitor.at("graph-summary")).to_contain_text("30 nodes, 30 edges, 30 features each")
    visitor.at("graph-nodes").select_option("links.csv")
    expect(problem).to_contain_text("links.csv: no column says of which class a node is.")
    visitor.page.keyboard.press("Escape")
    expect(visitor.at("data-drawer")).to_have_count(0)
