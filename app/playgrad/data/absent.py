"""The data sets of ``keras.datasets`` that playgrad does not bring."""

from __future__ import annotations

from typing import NoReturn

from playgrad.errors import DataError

_IMAGES = (
    "Of images, there are pg.data.mnist() and fashion_mnist(), and pg.data.shapes() in colour."
)


def _absent(name: str, instead: str) -> NoReturn:
    raise DataError(
        f"playgrad does not bring {name}.",
        hint=f"{instead} Or save your copy with np.savez('data.npz', x_train=..., y_train=...), "
        "bring the file to the page, and read it with pg.data.read_npz('data.npz').",
    )


def cifar10() -> NoReturn:
    """Refuse to load CIFAR-10, and name what to use instead.

    Raises:
        DataError: always.
    """
    _absent("CIFAR-10", _IMAGES)


def cifar100() -> NoReturn:
    """Refuse to load CIFAR-100, and name what to use instead.

    Raises:
        DataError: always.
    """
    _absent("CIFAR-100", _IMAGES)


def imdb() -> NoReturn:
    """Refuse to load the film reviews of IMDB, and name what to use instead.

    Raises:
        DataError: always.
    """
    _absent("the reviews of IMDB", "pg.data.rhyme() is a text, and film_ratings() has ratings.")


def boston_housing() -> NoReturn:
    """Refuse to load the prices of houses in Boston, and name what to use instead.

    Raises:
        DataError: always.
    """
    _absent("the houses of Boston", "pg.data.used_cars() is a table with prices.")
