"""Pillow's viewer in the page: ``image.show()`` puts an image into the output."""

from __future__ import annotations

from typing import Any

import numpy as np

# Pillow is in the page only, once a program imports it.
from PIL import ImageShow  # type: ignore[import-not-found]

from playgrad.figures.drawing import show


class PageViewer(ImageShow.Viewer):
    """Shows images in the output."""

    def show(self, image: Any, **options: Any) -> int:
        """Return 1: the image was shown."""
        mode = "RGBA" if image.has_transparency_data else "RGB"
        show(np.asarray(image.convert("L") if image.mode == "1" else image.convert(mode)))
        return 1


def register() -> None:
    """Have `show` of images use this viewer."""
    ImageShow.register(PageViewer(), 0)
