"""The arguments of ``playgrad serve``, ``watch`` and ``site``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers
from playgrad.watching.address import PORT


def add_serve(parsers: Parsers) -> None:
    """Add the command ``serve``."""
    parser = parsers.add_parser(
        "serve",
        help="serve the page",
        description="Serve the page. The first run fetches Pyodide and MNIST into the cache, "
        "PLAYGRAD_CACHE or ~/.cache/playgrad. PLAYGRAD_ASSETS names a folder, such as a copy of "
        "that cache, to take them from instead of the network.",
    )
    parser.add_argument(
        "--host",
        type=kinds.host,
        default=os.environ.get("HOST") or "127.0.0.1",
        help="address to listen on (default: HOST, else 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=kinds.port,
        default=os.environ.get("PORT") or "8000",
        help="port to listen on (default: PORT, else 8000)",
    )
    parser.add_argument(
        "--allow-host",
        type=kinds.host_name,
        action="append",
        default=[],
        metavar="NAME",
        help="further name by which browsers may call the server, such as that of a reverse "
        "proxy; may be repeated",
    )
    parser.add_argument(
        "--embed-in",
        type=kinds.embedding_site,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="site whose pages may show a program in a frame, such as https://school.example; may "
        "be repeated; 'none' for no site (default: any)",
    )
    parser.add_argument(
        "--docs-command",
        type=shlex.split,
        default=[],
        metavar="COMMAND",
        help="builds the documentation while the page is served already; it should end when its "
        "standard input does",
    )
    parser.set_defaults(command=commands.run_serve)


def add_watch(parsers: Parsers) -> None:
    """Add the command ``watch``."""
    parser = parsers.add_parser(
        "watch",
        help="show a training that runs elsewhere",
        description="Show a training in the page: its curves, its output and the times of a step. "
        "The training must have been started by `playgrad train --watch`, which prints the "
        "address.",
    )
    parser.add_argument(
        "address",
        type=kinds.watch_address,
        metavar="HOST[:PORT][#TOKEN]",
        help=f"where the training runs (default port: {PORT}); https:// for one behind a proxy",
    )
    parser.add_argument(
        "--token-file",
        type=kinds.token_file,
        dest="token",
        metavar="FILE",
        help="file with the token, which other users of this machine could see in the address",
    )
    parser.add_argument(
        "--port", type=kinds.port, default=8001, help="port of the page (default: 8001)"
    )
    parser.set_defaults(command=commands.run_watch)


def add_site(parsers: Parsers) -> None:
    """Add the command ``site``."""
    parser = parsers.add_parser(
        "site",
        help="write the page as files for a static host",
        description="Write the page as files for any host that serves files over https, at any "
        "path, such as GitHub Pages or the web space of a school. Nothing needs to be set there: "
        "the page's service worker adds the headers. An earlier version in OUT is replaced.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to write")
    parser.add_argument(
        "--lite",
        action="store_true",
        help="leave out the documentation, Fashion-MNIST and files that speed up later visits",
    )
    parser.add_argument(
        "--packages",
        action="store_true",
        help="add matplotlib, pandas and Pillow, which programs may import: 15 MB that a visitor "
        "fetches only for such a program",
    )
    parser.set_defaults(command=commands.run_site)
