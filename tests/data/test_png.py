"""PNG images: every format against an encoder of the tests, and damaged files."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from playgrad import data
from playgrad.errors import DataError, ReadError
from tests.data.png_files import CHANNELS, chunk, header, png

FORMATS = [
    (colour, depth)
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 4: (8, 16), 6: (8, 16)}.items()
    for depth in depths
]
RANDOM = np.random.default_rng(5)
SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("colour", "depth"), FORMATS)
def test_all_colour_types_and_depths_are_decoded(colour: int, depth: int, interlaced: bool) -> None:
    values = RANDOM.integers(0, 1 << depth, (11, 13, CHANNELS[colour]))
    image = data.decode_png(png(values, colour, depth, (0, 1, 2, 3, 4), interlaced))
    expected = np.floor(values * 255 / ((1 << depth) - 1) + 0.5).astype(np.uint8)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (7, 5)])
def test_all_filters_are_decoded(kind: int, size: tuple[int, int]) -> None:
    values = RANDOM.integers(0, 256, (*size, 3))
    np.testing.assert_array_equal(data.decode_png(png(values, 2, filters=(kind,))), values)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_palettes_are_decoded(depth: int) -> None:
    colours = RANDOM.integers(0, 256, (1 << depth, 3), dtype=np.uint8)
    index = RANDOM.integers(0, 1 << depth, (6, 5, 1))
    palette = chunk(b"PLTE", colours.tobytes())
    image = data.decode_png(png(index, 3, depth, extra=palette))
    np.testing.assert_array_equal(image, colours[index[:, :, 0]])
    image = data.decode_png(png(index, 3, depth, extra=palette + chunk(b"tRNS", b"\x07")))
    np.testing.assert_array_equal(image[:, :, 3], np.where(index[:, :, 0] == 0, 7, 255))


def test_a_transparent_colour_becomes_an_alpha_channel() -> None:
    values = np.array([[[3], [200]]])
    image = data.decode_png(png(values, 0, extra=chunk(b"tRNS", b"\0\x03")))
    assert image.tolist() == [[[3, 0], [200, 255]]]


def test_channels_are_converted_on_request() -> None:
    rgba = png(np.array([[[255, 0, 0, 9]]]), 6)
    results = [data.decode_png(rgba, channels).tolist()[0][0] for channels in (1, 2, 3, 4, 0)]
    assert results == [[249], [76, 9], [255, 246, 246], [255, 0, 0, 9], [255, 0, 0, 9]]
    assert data.decode_png(png(np.array([[[8]]]), 0), 4).tolist() == [[[8, 8, 8, 255]]]
    with pytest.raises(DataError, match="channels must be from 0 to 4, got 5"):
        data.decode_png(rgba, 5)


GREY = png(RANDOM.integers(0, 256, (4, 4, 1)), 0)
END = chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a PNG file: it begins with nothing"),
        (b"\xff\xd8\xff\xe0 JPEG", "is not a PNG file: it begins with ffd8ffe0"),
        (GREY[:-12], "truncated: it has no IEND chunk"),
        (GREY[:50], "truncated in the middle of a b'IDAT' chunk"),
        (GREY[:45] + bytes([GREY[45] ^ 1]) + GREY[46:], "the checksum of its b'IDAT' chunk"),
        (SIGNATURE + END, "does not begin with a header"),
        (SIGNATURE + header(1, 1, 3) + END, "header that is not valid"),
        (SIGNATURE + header(0, 1) + END, "its size is 0 x 1"),
        (SIGNATURE + header(1, 1) + chunk(b"ABCD", b"") + END, "b'ABCD' chunk, which is not known"),
        (SIGNATURE + header(2, 2) + chunk(b"IDAT", b"no") + END, "damaged: Error -3"),
        (
            SIGNATURE + header(2, 2) + chunk(b"IDAT", zlib.compress(bytes(5))) + END,
            "fewer bytes than its size needs",
        ),
        (
            SIGNATURE + header(1, 1) + chunk(b"IDAT", zlib.compress(b"\5\0")) + END,
            "there is no filter 5",
        ),
        (png(np.array([[[3]]]), 3), "its palette is missing"),
        (png(np.array([[[3]]]), 3, extra=chunk(b"PLTE", bytes(6))), "colour 3 is not in its pal"),
    ],
)
@pytest.mark.survival("Damaged data sets on disk")
def test_damaged_images_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(ReadError, match=words) as raised:
        data.decode_png(content, what="digits/7.png")
    assert raised.value.file == "digits/7.png"


@pytest.mark.survival("Damaged data sets on disk")
def test_decompression_bombs_are_refused() -> None:
    bomb = chunk(b"IDAT", zlib.compress(bytes(50_000_000)))
    with pytest.raises(ReadError, match="more bytes than its size needs"):
        data.decode_png(SIGNATURE + header(2, 2) + bomb + END)
    with pytest.raises(ReadError, match="more than the 67,108,864 that max_pixels allows"):
        data.decode_png(SIGNATURE + header(100_000, 100_000) + END)
    with pytest.raises(ReadError, match="4 x 4 pixels, more than the 15"):
        data.decode_png(GREY, max_pixels=15)


def test_a_png_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "7.png"
    file.write_bytes(GREY)
    assert data.read_png(file).shape == (4, 4, 1)
    with pytest.raises(ReadError, match=r"cannot open .*8.png: No such file") as raised:
        data.read_png(tmp_path / "8.png")
    assert raised.value.file.endswith("8.png")
