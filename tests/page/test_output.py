"""Output of programs is bounded where it is made."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from playgrad.page import output
from playgrad.page.output import FIRST_CHARACTERS, LAST_CHARACTERS, MOST_FLUSHES, Stream


class Clock:
    """The time, which tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(output, "time", clock)
    return clock


class Sent:
    """The output that a stream has sent."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.stream = Stream("stdout", self.events.append)

    @property
    def text(self) -> str:
        return "".join(event["text"] + event.get("end", "") for event in self.events)

    @property
    def left_out(self) -> int:
        return sum(event.get("left_out", 0) for event in self.events)


def test_a_little_text_is_sent_at_once(clock: Clock) -> None:
    sent = Sent()
    sent.stream.write("hello\n")
    assert sent.events == [{"kind": "stdout", "text": "hello\n"}]


def test_text_in_quick_succession_is_sent_together(clock: Clock) -> None:
    sent = Sent()
    for number in range(1000):
        sent.stream.write(f"{number}\n")
        clock.now += 0.0001
    sent.stream.send()
    assert len(sent.events) < 8
    assert sent.text == "".join(f"{number}\n" for number in range(1000))


@pytest.mark.survival("Floods of output")
@pytest.mark.parametrize("size", [1, 10, 1000, 100_000, 10_000_000])
def test_a_flood_is_bounded(clock: Clock, size: int) -> None:
    """All characters are sent or counted, however large the pieces are."""
    sent = Sent()
    total = 10_000_000 if size > 10 else 1_000_000
    sent.stream.write("begin")
    seconds = 0.0
    for _ in range(total // size):
        sent.stream.write("x" * size)
        clock.now += 1e-6 * size
        seconds += 1e-6 * size
    sent.stream.write("the end")
    sent.stream.send()
    assert sent.text.startswith("begin")
    assert sent.text.endswith("the end")
    assert len(sent.text) + sent.left_out == total + len("begin") + len("the end")
    windows = seconds / output.WINDOW_SECONDS + 2
    assert len(sent.text) <= windows * (FIRST_CHARACTERS + 2 * LAST_CHARACTERS)
    assert len(sent.events) <= windows * (output.WINDOW_SECONDS / output.HOLD_SECONDS + 2)


@pytest.mark.survival("Floods of output")
def test_a_flood_that_is_flushed_all_the_time_is_bounded(clock: Clock) -> None:
    sent = Sent()
    for _ in range(10_000):
        sent.stream.write("x")
        sent.stream.flush()
        clock.now += 1e-6
    assert len(sent.events) <= MOST_FLUSHES + 1
    sent.stream.send()
    assert len(sent.text) == 10_000


def test_flushes_now_and_then_are_obeyed(clock: Clock) -> None:
    sent = Sent()
    for number in range(50):
        sent.stream.write(f"{number}")
        sent.stream.write(" ")
        sent.stream.flush()
        assert sent.text.endswith(f"{number} ")
        clock.now += 0.02


def test_after_a_flood_everything_is_sent_again(clock: Clock) -> None:
    sent = Sent()
    sent.stream.write("x" * 1_000_000)
    for _ in range(3):
        clock.now += 1.0
        sent.stream.write("quiet\n")
        sent.stream.send()
    assert sent.text.endswith("quiet\n" * 3)
    assert sent.left_out == 1_000_000 - FIRST_CHARACTERS - LAST_CHARACTERS


@pytest.mark.parametrize("value", [3, None, b"bytes"])
def test_only_text_can_be_written(value: Any) -> None:
    with pytest.raises(TypeError, match="must be str"):
        Sent().stream.write(value)


def test_text_of_a_subclass_is_plain_text_on_its_way(clock: Clock) -> None:
    class Odd(str):
        def __getitem__(self, key: Any) -> Any:
            raise ValueError

    sent = Sent()
    sent.stream.write(Odd("odd"))
    assert type(sent.events[0]["text"]) is str


def test_a_stream_works_with_print_and_logging() -> None:
    sent = Sent()
    print("one", 2, file=sent.stream, flush=True)
    assert isinstance(sent.stream, io.TextIOBase)
    assert sent.stream.writable()
    assert sent.text == "one 2\n"


FLOODS: dict[str, Callable[[Stream], object]] = {
    "lines": lambda stream: [print(number, file=stream) for number in range(20_000)],
    "one print": lambda stream: print("x" * 20_000_000, file=stream),
    "writelines": lambda stream: stream.writelines("y" * 1000 for _ in range(2000)),
}


@pytest.mark.survival("Floods of output")
@pytest.mark.parametrize("name", FLOODS)
def test_floods_hold_no_memory(name: str) -> None:
    sent = Sent()
    FLOODS[name](sent.stream)
    held = sum(len(part) for part in sent.stream._first) + len(sent.stream._last)
    assert held <= FIRST_CHARACTERS + 2 * LAST_CHARACTERS
