"""The Content-Security-Policy in a real browser: it allows only what playgrad needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.routes import answer, close, served

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>probe</title>
<link rel="icon" href="/static/favicon.svg"><body><div id="root"></div>
<script>window.inlineScriptRan = true</script></body></html>"""

PYTHON_WORKER = """
import { pyodideURL } from "/static/vendor/versions.js";
const stdLibURL = `${pyodideURL}python_stdlib_at_once.zip`;
const violations = [];
self.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective));
try {
  const { loadPyodide } = await import(`${pyodideURL}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: pyodideURL, stdLibURL, packages: ["numpy"] });
  const bundle = await (await fetch("/bundle/playgrad.zip")).arrayBuffer();
  pyodide.unpackArchive(bundle, "zip", { extractDir: "/library" });
  const sum = pyodide.runPython(`
import sys
import numpy
sys.path.append("/library")
import playgrad
float(numpy.arange(10.0).sum() + numpy.linalg.det(numpy.eye(3)))`);
  const version = pyodide.runPython("sys.version_info[:2]").toJs();
  self.postMessage({ sum, version, isolated: self.crossOriginIsolated, violations });
} catch (error) {
  self.postMessage({ error: String(error?.message ?? error), violations });
}
"""


@pytest.fixture
def probe(chromium: Browser, server: str) -> Iterator[Page]:
    """A page on the server's origin with the server's headers and the body `PAGE`."""
    context = chromium.new_context()
    page = context.new_page()

    _, headers = served(f"{server}/")
    for path, body, content_type in (
        ("probe.html", PAGE, "text/html"),
        ("probe-worker.js", PYTHON_WORKER, "text/javascript"),
    ):
        context.route(f"**/{path}", answer(body, headers | {"content-type": content_type}))
    page.add_init_script(
        "window.violations = []; addEventListener('securitypolicyviolation',"
        " (event) => violations.push(event.violatedDirective))"
    )
    page.goto(f"{server}/probe.html")
    yield page
    close(context)


@pytest.mark.browser
def test_pyodide_with_numpy_and_the_bundle_starts_in_a_worker(probe: Page) -> None:
    result = probe.evaluate(
        """() => new Promise((resolve, reject) => {
            const worker = new Worker("/probe-worker.js", { type: "module" });
            worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
            worker.onerror = (event) => reject(new Error(event.message));
        })"""
    )
    assert result == {"sum": 46, "version": [3, 14], "isolated": True, "violations": []}


@pytest.mark.browser
def test_page_is_cross_origin_isolated(probe: Page) -> None:
    assert probe.evaluate("crossOriginIsolated")
    assert probe.evaluate("new SharedArrayBuffer(8).byteLength") == 8


@pytest.mark.browser
def test_vendored_modules_work_without_inline_styles(probe: Page) -> None:
    result = probe.evaluate(
        """async () => {
            const { html, render, signal } = await import("/static/vendor/preact.js");
            const { EditorView, EditorState, python, lineNumbers } =
                await import("/static/vendor/codemirror.js");
            const { default: uPlot } = await import("/static/vendor/uplot.js");
            const { graphlib, layout } = await import("/static/vendor/dagre.js");
            const root = document.getElementById("root");
            const count = signal(1);
            const Count = () => html`<b style="color: rgb(1, 2, 3)">${count}</b>`;
            render(html`<${Count} />`, root);
            count.value = 2;
            await new Promise(requestAnimationFrame);
            const editor = new EditorView({ parent: document.body, state: EditorState.create(
                { doc: "import numpy", extensions: [python(), lineNumbers()] }) });
            const size = { width: 100, height: 100 };
            new uPlot({ ...size, series: [{}, {}] }, [[0, 1], [2, 3]], document.body);
            const graph = new graphlib.Graph();
            graph.setGraph({}).setDefaultEdgeLabel(() => ({}));
            graph.setNode("a", { width: 10, height: 10 });
            graph.setNode("b", { width: 10, height: 10 });
            graph.setEdge("a", "b");
            layout(graph);
            await new Promise(requestAnimationFrame);
            return {
                text: root.textContent,
                color: getComputedStyle(root.firstChild).color,
                editorDisplay: getComputedStyle(editor.dom).display,
                below: graph.node("b").y > graph.node("a").y,
            };
        }"""
    )
    assert result == {
        "text": "2",
        "color": "rgb(1, 2, 3)",
        "editorDisplay": "flex",
        "below": True,
    }
    # Only the inline script of the probe was refused.
    assert probe.evaluate("violations") == ["script-src-elem"]
    assert not probe.evaluate("window.inlineScriptRan === true")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("attempt", "directive"),
    [
        ("try { eval('window.escaped = true') } catch {}", "script-src"),
        ("document.body.innerHTML = '<img src=x onerror=\"window.escaped = true\">'", "script-src"),
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "connect-src"),
        ("document.body.innerHTML = '<p style=\"color: red\">'", "style-src"),
    ],
)
def test_capabilities_the_page_does_not_need_are_refused(
    probe: Page, attempt: str, directive: str
) -> None:
    # From a timer, because code that a test evaluates directly is exempt from the policy.
    refused = probe.evaluate(
        f"""new Promise((resolve) => {{
            addEventListener("securitypolicyviolation", (e) => resolve(e.violatedDirective));
            setTimeout(() => resolve("nothing"), 5000);
            setTimeout(() => {{ {attempt} }});
        }})"""
    )
    assert refused.startswith(directive)
    assert not probe.evaluate("window.escaped === true")


@pytest.mark.browser
def test_the_page_itself_breaks_no_rule(chromium: Browser, server: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(server, wait_until="load")
    assert not [text for text in messages if "Content Security Policy" in text]
    context.close()
