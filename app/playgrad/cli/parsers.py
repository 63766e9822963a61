"""The type of a set of commands' parsers."""

from __future__ import annotations

import argparse
from typing import TypeAlias

Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
