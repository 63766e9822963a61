"""Addresses of trainings and tokens, as users write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from playgrad.watching.address import WatchAddress, read_token

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "address", "name", "is_private"),
    [
        ("far", WatchAddress("far", 8765), "far:8765", False),
        ("127.0.0.1:9", WatchAddress("127.0.0.1", 9), "127.0.0.1:9", True),
        (f"far:9#{TOKEN}", WatchAddress("far", 9, TOKEN), "far:9", False),
        (f"http://far:9/#{TOKEN}", WatchAddress("far", 9, TOKEN), "far:9", False),
        ("[::1]:9", WatchAddress("::1", 9), "[::1]:9", True),
        ("https://far", WatchAddress("far", 443, "", True), "far:443", True),
        ("localhost:9", WatchAddress("localhost", 9), "localhost:9", True),
    ],
)
def test_addresses(text: str, address: WatchAddress, name: str, is_private: bool) -> None:
    assert WatchAddress.parse(text) == address
    assert (address.name, address.is_private) == (name, is_private)


@pytest.mark.parametrize(
    "text",
    ["", ":9", "far:x", "far:99999", "ftp://far", "far/path", "far?x", "me@far", "[::1", "a b:1:2"],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        WatchAddress.parse(text)


def test_no_error_shows_a_token() -> None:
    with pytest.raises(ValueError, match="a token has 16 to 200") as raised:
        WatchAddress.parse("far#secret!")
    assert "secret" not in str(raised.value)
    with pytest.raises(ValueError, match="is not HOST:PORT") as raised:
        WatchAddress.parse("far:x#secret-secret-secret")
    assert "secret" not in str(raised.value)


def test_the_first_line_of_a_file_is_the_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\nmore\n")
    assert read_token(file) == TOKEN
    for content in (b"", b"short", b"\xff" * 20, b"x" * 2000, b"two words of it and more"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="16 to 200"):
            read_token(file)
    with pytest.raises(ValueError, match="cannot read"):
        read_token(tmp_path)
