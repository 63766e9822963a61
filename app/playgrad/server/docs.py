"""The documentation: the built site, or a page that says that it is being built, or why not."""

from __future__ import annotations

import html
import logging
import subprocess
import threading
from collections import deque
from collections.abc import Sequence

from flask import Response
from werkzeug.exceptions import NotFound, ServiceUnavailable

from playgrad import paths
from playgrad.server.files import REVALIDATE, send

_RELOAD_SECONDS = 2
_LINES = 30
"""Of the output of a build that failed, for the page."""
_PATIENCE_SECONDS = 10
_log = logging.getLogger(__name__)

_PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    {head}
    <title>{title}</title>
    <link rel="icon" href="/static/favicon.svg" type="image/svg+xml">
    <script src="/static/js/start/early-theme.js"></script>
    <link rel="stylesheet" href="/static/css/theme.css">
    <link rel="stylesheet" href="/static/css/docs-state.css">
  </head>
  <body>
    <main>
      <h1>{title}</h1>
      {text}
      <p><a class="link" href="/">Open the playground</a></p>
    </main>
  </body>
</html>
"""


class DocsBuild:
    """A command that builds the documentation while the server runs.

    Its standard input ends when this process does, in whatever way, and then the command should
    end too.

    Attributes:
        output: the last lines that it wrote.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.output: deque[str] = deque(maxlen=_LINES)
        self._closed = False
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,  # Ctrl+C is for the server
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        return self._reader.is_alive()

    def close(self) -> None:
        """End the command, and wait for it."""
        self._closed = True
        assert self._process.stdin
        self._process.stdin.close()
        self._reader.join(_PATIENCE_SECONDS)

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            self.output.extend(line.rstrip() for line in lines)
        if self._process.wait() and not self._closed:
            text = "\n".join(self.output)
            _log.warning("the documentation was not built; `make docs` shows why:\n%s", text)


def send_docs(name: str, build: DocsBuild | None) -> Response:
    """Respond with a file of the site, or with a page about its build if there is no site.

    Args:
        build: of this server, if it has one.

    Raises:
        NotFound: there is no such file, or nobody builds the site.
        ServiceUnavailable: there is no such file yet, or the build has failed.
    """
    if (paths.docs() / "index.html").is_file():
        return send(paths.docs(), name, REVALIDATE)
    if build is None:
        raise NotFound("the documentation has not been built here: run `make docs`")
    if build.is_running:
        title = "The documentation is being built"
        text = "<p>This takes about half a minute. The page then opens by itself.</p>"
        head = f'<meta http-equiv="refresh" content="{_RELOAD_SECONDS}">'
    else:
        title = "The documentation could not be built"
        output = html.escape("\n".join(build.output))
        text = (
            "<p>Run <code>make docs</code> in the checkout, which shows all that went wrong. "
            "Once it succeeds, reload this page.</p>"
            f"<h2>The end of the build's output</h2><pre>{output}</pre>"
        )
        head = ""
    if not name.endswith(".html"):
        raise ServiceUnavailable(title.lower())
    response = Response(_PAGE.format(head=head, title=title, text=text), 503, mimetype="text/html")
    response.headers["Cache-Control"] = "no-store"
    return response
