"""The commands of the guide, as a new user runs them."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from pathlib import Path

import pytest

from playgrad.cli import main
from playgrad.serving.store import ModelStore
from tests.cli.processes import environment, running
from tests.serving.serving import content, model

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "model-server.md"


def lines() -> list[str]:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = [line.partition(" #")[0].strip() for line in "".join(blocks).splitlines()]
    return [
        line for line in commands if " --ray" not in line
    ]  # those take a minute: test_ray_serve


def test_the_commands_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.safetensors").write_bytes(content(model(1)))
    (tmp_path / "better.safetensors").write_bytes(content(model(2)))
    first, serve, second, back, *asking = lines()
    assert serve == "playgrad models serve ./models --port 8501"
    env = environment(HOST=None)

    def command(line: str) -> None:
        assert main(line.split()[1:]) == 0

    command(first)
    arguments = [*serve.replace("8501", "0").split()[1:], "--device", "cpu"]
    with running(*arguments, env=env, cwd=tmp_path) as process:
        assert process.stdout
        assert process.stderr
        port = re.search(rb":(\d+)/", process.stdout.readline())[1].decode()  # type: ignore[index]
        log: list[str] = []
        ready = threading.Condition()

        def read() -> None:
            for line in process.stderr or ():
                with ready:
                    log.append(line.decode().strip())
                    ready.notify_all()

        threading.Thread(target=read, daemon=True).start()

        def wait_for(line: str, times: int = 1) -> None:
            with ready:
                assert ready.wait_for(lambda: log.count(line) >= times, timeout=300), log

        wait_for("digits: version 1 is ready on cpu:0")
        for line in asking:
            assert line.startswith("curl -s http://127.0.0.1:8501/"), line
            asked = subprocess.run(
                line.replace("8501", port), shell=True, capture_output=True, text=True
            )
            answer = json.loads(asked.stdout)
            assert "error" not in answer, answer
        command(second)
        wait_for("digits: version 1 is freed")
        command(back)
        wait_for("digits: version 1 is ready on cpu:0", 2)
        wait_for("digits: version 2 is freed")
        process.terminate()
    assert ModelStore(tmp_path / "models").versions("digits") == [1, 2]
