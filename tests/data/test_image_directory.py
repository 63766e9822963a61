"""Folders of images as data sets, and data sets that playgrad does not bring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.data.png_files import png


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(("cats", "dogs")):
        (tmp_path / name).mkdir()
        for i in range(6):
            image = np.full((8, 10, 3), 40 + 100 * number + i, np.uint8)
            (tmp_path / name / f"{i}.png").write_bytes(png(image, 2))
    return tmp_path


def test_images_get_the_numbers_of_their_folders(folder: Path) -> None:
    data = pg.data.image_dataset_from_directory(folder, image_size=(4, 5), batch_size=5, seed=1)
    assert data.class_names == ["cats", "dogs"]
    batches = list(data)
    assert [images.shape for images, _ in batches] == [(5, 4, 5, 3), (5, 4, 5, 3), (2, 4, 5, 3)]
    images = np.concatenate([images for images, _ in batches])
    labels = np.concatenate([labels for _, labels in batches])
    np.testing.assert_array_equal(labels, images[:, 0, 0, 0] > 100)
    assert images.dtype == np.float32 and labels.dtype == np.int32
    assert not np.array_equal(labels, np.sort(labels))
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(2)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.Adam(0.05), loss, ["accuracy"], device="cpu")
        history = model.fit(data, epochs=15, verbose=0)
    assert history.history["accuracy"][-1] == 1.0


def test_subsets_and_labels(folder: Path) -> None:
    options = {"validation_split": 0.25, "seed": 3, "image_size": (8, 10), "batch_size": None}
    train, test = pg.data.image_dataset_from_directory(folder, subset="both", **options)
    seen = [float(image[0, 0, 0]) for part in (train, test) for image, _ in part]
    assert (len(list(train)), len(list(test)), len(set(seen))) == (9, 3, 12)
    for mode, first in (("categorical", [1, 0]), ("binary", [0])):
        data = pg.data.image_dataset_from_directory(
            folder, label_mode=mode, shuffle=False, color_mode="grayscale", image_size=(2, 2)
        )
        images, labels = next(iter(data))
        assert images.shape == (12, 2, 2, 1) and labels[0].tolist() == first
    alone = pg.data.image_dataset_from_directory(folder, labels=None, batch_size=4)
    assert next(iter(alone)).shape == (4, 256, 256, 3)


def test_images_are_scaled_as_torch_does(folder: Path) -> None:
    import torch

    image = np.random.default_rng(0).integers(0, 256, (9, 7, 3)).astype(np.uint8)
    (folder / "cats" / "0.png").write_bytes(png(image, 2))
    data = pg.data.image_dataset_from_directory(
        folder, image_size=(5, 12), shuffle=False, batch_size=None
    )
    scaled = torch.nn.functional.interpolate(
        torch.tensor(image.astype(np.float32)).permute(2, 0, 1)[None], (5, 12), mode="bilinear"
    )
    expected = scaled[0].permute(1, 2, 0).numpy()
    np.testing.assert_allclose(next(iter(data))[0], expected, rtol=1e-4, atol=1e-2)


def test_what_cannot_be_read_is_refused_with_words(folder: Path) -> None:
    with pytest.raises(pg.DataError, match="there is no folder 'nowhere'"):
        pg.data.image_dataset_from_directory("nowhere")
    with pytest.raises(pg.DataError, match="belong together"):
        pg.data.image_dataset_from_directory(folder, validation_split=0.2)
    with pytest.raises(pg.DataError, match="must name the folders"):
        pg.data.image_dataset_from_directory(folder, class_names=["cats"])
    with pytest.raises(pg.DataError, match="12 images, but 2 labels"):
        pg.data.image_dataset_from_directory(folder, labels=[0, 1])
    (folder / "cats" / "photo.jpg").write_bytes(b"")
    with pytest.raises(pg.DataError, match=r"'photo\.jpg', are not PNG files"):
        pg.data.image_dataset_from_directory(folder)


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "imdb", "boston_housing"])
def test_absent_data_sets_say_what_to_do(name: str) -> None:
    with pytest.raises(pg.DataError, match=r"does not bring.*pg\.data\.read_npz"):
        getattr(pg.data, name)()
