"""Which modules of Python's standard library come to a page at once, and which when a program first
imports one of them.

The server packs them into two archives by this table, and the page looks imports up in it.
"""

from __future__ import annotations

LATER = frozenset({
    "_markupbase", "_py_abc", "_pydatetime", "_pyio", "_pyrepl", "antigravity",
    "asyncio.__main__", "asyncio.proactor_events", "asyncio.tools", "asyncio.windows_events",
    "asyncio.windows_utils", "bdb", "cProfile", "cmd", "code", "colorsys", "compileall",
    "concurrent.futures.process", "concurrent.interpreters", "configparser", "ctypes.macholib",
    "doctest", "filecmp", "fileinput", "ftplib", "getopt", "getpass", "html.parser", "http",
    "imaplib", "logging.config", "logging.handlers", "mailbox", "mimetypes", "modulefinder",
    "multiprocessing", "netrc", "nturl2path", "optparse", "pdb", "plistlib", "poplib",
    "profile", "pstats", "pty", "py_compile", "pyclbr", "pydoc", "rlcompleter", "runpy",
    "sched", "shelve", "smtplib", "socketserver", "sqlite3", "stringprep", "symtable",
    "tabnanny", "this", "tomllib", "trace", "tty", "unittest", "urllib.request",
    "urllib.response", "urllib.robotparser", "uuid", "wave", "webbrowser", "wsgiref", "xml",
    "xmlrpc", "zipapp", "zoneinfo",
})  # fmt: skip
"""Modules that come later, packages with all that is in them."""

_FIRST_OF: dict[str, frozenset[str]] = {
    "email": frozenset(),
    "encodings": frozenset({
        "aliases", "ascii", "base64_codec", "cp1252", "cp437", "hex_codec", "iso8859_1",
        "latin_1", "raw_unicode_escape", "unicode_escape", "utf_16", "utf_16_be",
        "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_8", "utf_8_sig",
    }),
}  # fmt: skip
"""Packages of which only the package itself and these modules come at once."""


def comes_later(module: str) -> bool:
    """Return whether a module of the standard library is in the second archive.

    Modules of packages that come at once may do so: ``encodings.cp1250``. Names that the standard
    library does not have are false, except below a package of which a part comes later.
    """
    parts = module.split(".")
    if any(".".join(parts[:count]) in LATER for count in range(1, len(parts) + 1)):
        return True
    first = _FIRST_OF.get(parts[0])
    return first is not None and len(parts) > 1 and parts[1] not in first
