"""Folders of images as data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.dataset import Dataset
from playgrad.data.read_files import read_png
from playgrad.errors import DataError

Array = np.ndarray[Any, Any]
_OTHER_IMAGES = {".jpg", ".jpeg", ".bmp", ".gif", ".webp"}
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


def image_dataset_from_directory(
    directory: str | Path,
    labels: str | Sequence[int] | None = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: tuple[int, int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
) -> Any:
    """Return a data set of the PNG images in a folder, which has a folder for each class.

    The images are read when they are needed, and scaled to one size. ``dataset.class_names`` has
    the names of the classes.

    Args:
        directory: the folder.
        labels: "inferred" for the number of the class's folder, a list with one for each file in
            alphabetical order, or None for images alone.
        label_mode: "int", "categorical" for one-hot, "binary" for float32 0 or 1, or None.
        class_names: the names of the folders in the order of their numbers; None for the
            alphabetical one.
        color_mode: "grayscale", "rgb" or "rgba".
        batch_size: images of a batch; None for single images.
        image_size: (height, width).
        shuffle: whether each round has an order of its own.
        seed: the seed of the order, and of the division into subsets.
        validation_split: the fraction of files that is kept for validation.
        subset: "training", "validation", or "both" for a pair of data sets.
        interpolation: "bilinear" or "nearest".

    Returns:
        Batches of float32 images (batch, height, width, channels), from 0 to 255, with their
        labels.

    Raises:
        DataError: there are no such files, or an argument has another value.
    """
    root = Path(directory)
    if not root.is_dir():
        raise DataError(
            f"there is no folder '{directory}'.",
            hint="In the page, bring the images under Data, or as arrays in an .npz file.",
        )
    for what, value, allowed in (
        ("label_mode", label_mode, ("int", "categorical", "binary", None)),
        ("color_mode", color_mode, tuple(_CHANNELS)),
        ("interpolation", interpolation, ("bilinear", "nearest")),
        ("subset", subset, ("training", "validation", "both", None)),
    ):
        if value not in allowed:
            raise DataError(f"{what} must be one of {allowed}, got {value!r}.")
    if (validation_split is None) != (subset is None):
        raise DataError("validation_split and subset belong together.")
    names, files, numbers = _listed(root, labels, class_names)
    if label_mode == "binary" and len(names) != 2:
        raise DataError(f"label_mode='binary' needs two classes, got {len(names)}.")
    order = np.arange(len(files))
    if subset is not None and shuffle:
        np.random.default_rng(seed).shuffle(order)
    first = len(files) - int((validation_split or 0.0) * len(files))
    parts = {"training": order[:first], "validation": order[first:], None: order}

    def dataset_of(chosen: Array) -> Any:
        paths = np.array([str(files[i]) for i in chosen])
        of_files = Dataset.from_tensor_slices((paths, numbers[chosen]))
        if shuffle:
            of_files = of_files.shuffle(max(len(chosen), 1), seed=seed)

        def opened(path: Any, number: Any) -> Any:
            image = _scaled(read_png(str(path), _CHANNELS[color_mode]), image_size, interpolation)
            if labels is None or label_mode is None:
                return image
            return image, _label(int(number), len(names), label_mode)

        result: Any = of_files.map(opened)
        if batch_size is not None:
            result = result.batch(batch_size)
        result.class_names = list(names)
        return result

    if subset == "both":
        return dataset_of(parts["training"]), dataset_of(parts["validation"])
    return dataset_of(parts[subset])


def _listed(
    root: Path, labels: Any, class_names: Sequence[str] | None
) -> tuple[list[str], list[Path], Array]:
    """Return the names of the classes, the files, and the label of each.

    Raises:
        DataError: there are none, or the labels do not fit.
    """
    if labels == "inferred":
        folders = sorted(each.name for each in root.iterdir() if each.is_dir())
        names = list(class_names or folders)
        if set(names) != set(folders):
            raise DataError(f"class_names must name the folders {folders}, got {names}.")
        pairs = [(f, n) for n, name in enumerate(names) for f in sorted((root / name).rglob("*"))]
    else:
        names = list(class_names or [])
        pairs = [(file, 0) for file in sorted(root.rglob("*"))]
    found = [(file, n) for file, n in pairs if file.suffix.lower() == ".png"]
    others = [file for file, _ in pairs if file.suffix.lower() in _OTHER_IMAGES]
    if others:
        raise DataError(
            f"{len(others)} images, such as '{others[0].name}', are not PNG files.",
            hint="playgrad reads PNG. Convert them, for example with ImageMagick: "
            "mogrify -format png *.jpg.",
        )
    if not found:
        raise DataError(f"'{root}' has no PNG images{' in folders' * (labels == 'inferred')}.")
    numbers = [n for _, n in found]
    if labels is not None and labels != "inferred":
        if len(labels) != len(found):
            raise DataError(f"there are {len(found)} images, but {len(labels)} labels.")
        numbers = [int(label) for label in labels]
        names = names or [str(n) for n in range(max(numbers) + 1)]
    return names, [file for file, _ in found], np.array(numbers, np.int32)


def _label(number: int, classes: int, mode: str) -> Array:
    if mode == "int":
        return np.array(number, np.int32)
    if mode == "binary":
        return np.array([number], np.float32)
    return np.eye(classes, dtype=np.float32)[number]


def _scaled(image: Array, size: tuple[int, int], interpolation: str) -> Array:
    """Return an image in another size, float32 (height, width, channels)."""
    image = image.astype(np.float32)
    if image.ndim == 2:
        image = image[..., None]
    for axis, (old, new) in enumerate(zip(image.shape[:2], size, strict=True)):
        places = (np.arange(new) + 0.5) * old / new - 0.5  # the centres of pixels, as TensorFlow
        if interpolation == "nearest":
            nearest = np.floor((np.arange(new) + 0.5) * old / new).astype(int)
            image = np.take(image, np.clip(nearest, 0, old - 1), axis)
            continue
        low = np.floor(places).astype(int)
        share = (places - low).astype(np.float32).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        below = np.take(image, np.clip(low, 0, old - 1), axis)
        above = np.take(image, np.clip(low + 1, 0, old - 1), axis)
        image = below * (1 - share) + above * share
    return image
