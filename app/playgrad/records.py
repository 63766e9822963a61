"""Records of layers, optimizers and data sets: the facts for other packages and the page.

A record stands beside the class or function that it describes, so that each fact is written once.
The formats of other libraries, the translation of their programs and the doctor read it there; the
page gets all of them in ``static/js/records/``, which set-up writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CHANNELS_FIRST = 'data_format="channels_first"'
"""The setting of a layer that takes the images of PyTorch."""
UNPLACED = 1000
"""The place in a menu of an entry that has no other: behind all that have one."""


@dataclass(frozen=True)
class Field:
    """A field on the card of a layer in Blocks.

    Attributes:
        parameter: the argument of the constructor that it sets.
        label: the key of its name in the page's messages, ``blocks.fields``.
        type: "size" is a whole number that may also be given for each axis; "shape" is a tuple.
        more: whether it is among the fields that are folded.
        least, most, step: bounds and step of a number.
        options: texts of the values of a choice, as in a program.
    """

    parameter: str
    label: str
    type: Literal["count", "number", "size", "choice", "flag", "shape", "regularizer"]
    more: bool = False
    least: float | None = None
    most: float | None = None
    step: float | None = None
    options: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the field as the page takes it, without empty attributes."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and value is not False and value != ()
        }


@dataclass(frozen=True)
class LayerRecord:
    """Facts of a class of layers, as its attribute ``record``. Subclasses do not inherit them.

    Attributes:
        about: the English sentence that explains the layer in Blocks; "" for a layer without card.
            Other languages have theirs in the page's messages, ``layers.about``.
        menu: its group in the menu of Blocks, a key of ``layers.groups``, and its place in the
            group; None for a layer that is not in the menu.
        example: the arguments of a new layer from the menu.
        fields: the fields of its card.
        rule: how the page computes its shape and number of weights before Python runs: a rule of
            ``static/js/blocks/rules`` and its arguments, such as "pooling 2"; "" for not at all.
        keras: the name of the class in Keras; "" if Keras has no such layer.
        tfjs: the arguments that TensorFlow.js takes; None if it has no such layer.
        torch: the function in `playgrad.interchange.pytorch` that writes the layer as a module of
            PyTorch; "" if there is none.
        from_torch: modules of PyTorch that the translation of a program replaces by the layer, each
            with the "args" of a rule of `playgrad.bridge`, and its "set" if there is one.
        is_merge: whether it takes several tensors, which Keras passes as one list.
        is_recurrent: whether Keras has its weights in a cell.
        expects_unit_scale: whether its initial weights expect inputs of about size 1.
        keeps_scale: whether results have the size of the inputs.
        is_positionwise: whether a result at a position of a sequence depends on the inputs there
            alone.
    """

    about: str = ""
    menu: tuple[str, int] | None = None
    example: str = ""
    fields: tuple[Field, ...] = ()
    rule: str = ""
    keras: str = ""
    tfjs: str | None = None
    torch: str = ""
    from_torch: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_merge: bool = False
    is_recurrent: bool = False
    expects_unit_scale: bool = False
    keeps_scale: bool = False
    is_positionwise: bool = False


@dataclass(frozen=True)
class OptimizerRecord:
    """Facts of a class of optimizers, as its attribute ``record``. Subclasses do not inherit them.

    Attributes:
        about: the English sentence that explains it in Blocks, whose menu it is then in. Other
            languages have theirs in the page's messages, ``blocks.terms.values``.
        place: its place in that menu.
        usual_rates: the range in which the doctor does not suspect a learning rate: half a power of
            ten beyond the rates of papers and of the examples. None if it does not judge any.
        is_adaptive: whether its steps do not depend on the size of the gradients.
        from_torch: the parameters of the class of this name in ``torch.optim``, as a rule of
            `playgrad.bridge` has them; "" if PyTorch has no such class.
    """

    about: str = ""
    place: int = UNPLACED
    usual_rates: tuple[float, float] | None = None
    is_adaptive: bool = False
    from_torch: str = ""


@dataclass(frozen=True)
class SuitedSettings:
    """Settings that suit a data set, as the texts of a program."""

    optimizer: str
    learning_rate: str
    batch_size: str
    epochs: str


@dataclass(frozen=True)
class LabelledSamples:
    """Samples with classes, which Blocks offers in the place of others.

    Attributes:
        sort: "images" come divided into two parts; "points" are divided by a ratio.
        shape: the shape of a sample.
        dtype: its element type.
        classes: their number.
        title: the English name in Blocks. Other languages have theirs in the page's messages,
            ``blocks.data.sets``.
        names: a regular expression of JavaScript for the words by which comments name the data,
            in any case.
        noun: the words for it in a title.
        about: a sentence for comments, in which it is named.
        traits: a regular expression for words that comments use for it alone; "" for none.
        suited: settings that train a small network.
    """

    sort: Literal["points", "images"]
    shape: tuple[int, ...]
    dtype: str
    classes: int
    title: str
    names: str
    noun: str
    about: str
    suited: SuitedSettings
    traits: str = ""


@dataclass(frozen=True)
class DataSetRecord:
    """Facts of a function that returns a data set.

    Attributes:
        place: its place in lists and menus.
        class_names: the names of its classes, of label 0 first; () if they have none.
        samples: for a data set that Blocks offers.
    """

    place: int = UNPLACED
    class_names: tuple[str, ...] = ()
    samples: LabelledSamples | None = None
