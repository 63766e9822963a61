"""Sphinx configuration: the guides and the reference as one site. `make docs` builds it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

import playgrad as pg  # noqa: E402
from playgrad.data import data_sets  # noqa: E402
from playgrad.optim.optimizer import RECORDED as OPTIMIZERS  # noqa: E402
from playgrad.server.api import describe_api  # noqa: E402

project = "playgrad"
version = release = pg.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["theme"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a changelog entry may skip a level

# Docstrings: Google style; `name` links to the reference where it is documented there.
default_role = "py:obj"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
autodoc_inherit_docstrings = False  # an override without a docstring is not listed
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# The theme shares colours and the choice of light or dark with the page.
html_theme = "theme"
html_theme_path = ["."]
html_title = "playgrad"
html_favicon = "../static/favicon.svg"
html_static_path = ["../static/js/start/early-theme.js", "../static/css/theme.css"]
html_css_files = ["theme.css", "docs.css"]
html_js_files = [("early-theme.js", {"priority": 100}), ("docs.js", {"defer": "defer"})]
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = "#"


ENTRIES = describe_api()  # before autodoc changes the defaults in signatures


def write_api(app: Sphinx, failure: Exception | None) -> None:
    """Write ``api.json``: the names of the reference with signature, docstring and address."""
    if failure or app.builder.format != "html":
        return
    objects = app.env.domaindata["py"]["objects"]
    entries = []
    for entry in ENTRIES:
        target = objects.get(entry.get("alias_of", entry["name"]))
        if target is not None:
            page = app.builder.get_target_uri(target.docname)
            entry["page"] = f"{page}#{target.node_id}"
        elif entry["kind"] in ("method", "property"):
            continue  # the reference leaves it out, and so does completion
        elif entry["kind"] != "module":
            logging.getLogger(__name__).warning("not in the reference: %s", entry["name"])
        entries.append(entry)
    content = {"version": release, "names": entries}
    Path(app.outdir, "api.json").write_text(json.dumps(content, indent=1, ensure_ascii=False))


RECORDED = {
    "optimizers": [f"autoclass:: {each.__name__}" for each in OPTIMIZERS.values()],
    "data sets": [f"autofunction:: {name}" for name in data_sets.functions()],
}
"""The entries that ``.. recorded:: optimizers`` stands for: all that have a record."""


def list_recorded(app: Sphinx, page: str, source: list[str]) -> None:
    for name, entries in RECORDED.items():
        lines = "".join(f".. {entry}\n" for entry in entries)
        source[0] = source[0].replace(f".. recorded:: {name}\n", lines)


def setup(app: Sphinx) -> None:
    app.connect("source-read", list_recorded)
    # They change with the library, without a change of their own.
    app.connect("env-get-outdated", lambda *_: ["reference/optimizers", "reference/data"])
    app.connect("build-finished", write_api)
