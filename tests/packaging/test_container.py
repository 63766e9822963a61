"""The Dockerfile's parts that can be tried without Docker."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser.versions import free_port

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")


def check_health(port: int) -> int:
    (command,) = re.findall(r"HEALTHCHECK .*CMD (\[.+\])", DOCKERFILE)
    program, *arguments = json.loads(command)
    assert program == "python"
    environment = {**os.environ, "PORT": str(port)}
    run = [sys.executable, *arguments]
    return subprocess.run(run, env=environment, capture_output=True, check=False).returncode


def test_the_health_check_tells_a_server_from_none(server: str) -> None:
    assert check_health(urlsplit(server).port or 0) == 0
    assert check_health(free_port()) != 0


def test_the_container_runs_as_nobody_in_particular() -> None:
    last = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    assert re.findall(r"^USER (\S+)$", last, re.MULTILINE) == ["playgrad"]
    assert last.index("useradd") < last.index("USER playgrad") < last.index("ENTRYPOINT")
