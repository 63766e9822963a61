"""What is in each part of an archive of Pyodide.

See docs/decisions/059-a-page-fetches-what-it-needs.md.
"""

from __future__ import annotations

from playgrad.standard_library import comes_later

# For compilers, packagers and type checkers, none of which there is in a page.
_FOR_BUILDS = (".pyi", ".h", ".a", ".c", ".pxd", ".pyx", ".ini", "/py.typed")


def is_for_programs(member: str) -> bool:
    """Return whether programs can use a member of NumPy's wheel."""
    return not member.endswith(_FOR_BUILDS)


def is_at_once(member: str) -> bool:
    """Return whether a member of the standard library's archive comes before Python starts."""
    return not is_later(member)


def is_later(member: str) -> bool:
    """Return whether it comes when a program imports it: the others."""
    module = member.removesuffix("/").removesuffix(".py").removesuffix("/__init__")
    return comes_later(module.replace("/", "."))
