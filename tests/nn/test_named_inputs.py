"""Dictionaries of inputs by name, wherever models take data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

AGE = np.linspace(-1.0, 1.0, 40, dtype="float32")[:, None]
COLOUR = np.eye(3, dtype="float32")[np.arange(40) % 3]
Y = (AGE[:, 0] + COLOUR[:, 1] > 0.4).astype("int32")
BY_NAME = {"colour": COLOUR, "age": AGE}  # not in the order of the inputs


def two_inputs() -> pg.Model:
    with pg.Graph(seed=3).as_default():
        age, colour = pg.Input((1,), name="age"), pg.Input((3,), name="colour")
        hidden = nn.Dense(8, "relu")(nn.Concatenate()([age, colour]))
        model = pg.Model([age, colour], nn.Dense(1)(hidden))
    model.compile("adam", nn.BinaryCrossentropy(from_logits=True), ["accuracy"], device="cpu")
    return model


def test_dictionaries_are_as_lists_everywhere() -> None:
    results = []
    for x in ([AGE, COLOUR], BY_NAME):
        model = two_inputs()
        fitted = model.fit(
            x, Y, epochs=2, batch_size=16, verbose=0, validation_data=(x, Y), validation_split=0.0
        )
        results.append(
            [
                *fitted.history.values(),
                model.evaluate(x, Y),
                model.predict(x),
                model.train_on_batch(x, Y),
                model.test_on_batch(x, Y),
                np.asarray(model(x)),
            ]
        )
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_dictionaries_in_data_sets() -> None:
    def pairs(x: Any, size: int = 10) -> pg.data.Dataset:
        return pg.data.Dataset.from_tensor_slices((x, Y)).batch(size)

    results = []
    for x in ((AGE, COLOUR), BY_NAME):
        model = two_inputs()
        history = model.fit(pairs(x), epochs=2, verbose=0, validation_data=pairs(x, 16)).history
        results.append([*history.values(), model.evaluate(pairs(x)), model.predict(pairs(x))])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    by_name = pg.data.Dataset.from_tensor_slices(BY_NAME).batch(16)
    np.testing.assert_allclose(model.predict(by_name), model.predict(BY_NAME), rtol=1e-6)


def test_columns_of_tables_equal_columns_of_a_matrix() -> None:
    model = two_inputs()
    columns = {"age": AGE[:, 0].tolist(), "colour": COLOUR}
    np.testing.assert_array_equal(model.predict(columns), model.predict(BY_NAME))


def test_inputs_that_the_graph_numbers_keep_their_names() -> None:
    with pg.Graph(seed=3).as_default():
        for _ in range(2):
            inputs = [pg.Input((1,), name="age"), pg.Input((3,), name="colour")]
            model = pg.Model(inputs, nn.Dense(1)(nn.Concatenate()(inputs)))
    assert [each.node.name for each in model.inputs] == ["age_1", "colour_1"]
    expected = model.predict([AGE, COLOUR])
    np.testing.assert_array_equal(model.predict(BY_NAME), expected)
    np.testing.assert_array_equal(model.predict({"age_1": AGE, "colour_1": COLOUR}), expected)


class OfDictionary(pg.Model):
    def __init__(self) -> None:
        super().__init__()
        self.age, self.colour = nn.Dense(2), nn.Dense(2)

    def call(self, inputs: Any) -> Any:
        return self.age(inputs["age"]) + self.colour(inputs["colour"])


def test_a_class_gets_the_dictionary() -> None:
    model = OfDictionary()
    model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    model.fit(BY_NAME, Y, verbose=0)
    swapped = {"age": AGE, "colour": COLOUR}
    np.testing.assert_array_equal(model.predict(swapped), model.predict(BY_NAME))
    with pytest.raises(pg.DataError, match=r"x lacks 'colour'\."):
        model.predict({"age": AGE})


class StepOfDictionary(pg.Model):
    def train_step(self, data: Any) -> Any:
        x, y = data
        assert set(x) == {"age", "colour"}
        return super().train_step((x, y))


def test_a_train_step_gets_the_dictionary() -> None:
    plain = two_inputs()
    model = StepOfDictionary(list(plain.inputs), list(plain.outputs))
    model.compile("adam", "mse", device="cpu")
    model.fit(BY_NAME, Y.astype("float32")[:, None], verbose=0)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"age": AGE}, r"x lacks 'colour'\."),
        ({**BY_NAME, "size": AGE}, "x has 'size', which the model does not take"),
        ({"Age": AGE, "colour": COLOUR}, "x lacks 'age', and has 'Age', which the model does"),
        ({"age": AGE, "colour": AGE}, r"x\['colour'\] has samples of shape"),
        ({"age": AGE, "colour": Y.astype(str)}, r"x\['colour'\] must hold numbers"),
        ({"age": AGE, "colour": COLOUR[:9]}, "differ in length"),
    ],
)
def test_wrong_dictionaries(x: Any, message: str) -> None:
    model = two_inputs()
    with pytest.raises(pg.PlaygradError, match=message) as caught:
        model.fit(x, Y, verbose=0)
    if "lacks" in message:
        assert "Its inputs are: age, colour." in str(caught.value)


def test_a_chain_that_is_not_built_has_no_names() -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile("adam", "mse", device="cpu")
    with pytest.raises(pg.DataError, match="have no names"):
        model.fit({"age": AGE}, AGE, verbose=0)


def test_outputs_have_the_names_of_a_dictionary() -> None:
    with pg.Graph(seed=3).as_default():
        age = pg.Input((1,), name="age")
        outputs = {"young": nn.Dense(1, name="a")(age), "old": nn.Dense(1, name="b")(age)}
    model = pg.Model(age, outputs)
    assert model.output_names == ["young", "old"]
    model.compile("adam", {"old": "mse", "young": "mae"}, {"old": ["mae"]}, device="cpu")
    targets = {"old": AGE, "young": AGE * 2.0}
    history = model.fit(AGE, targets, verbose=0, validation_data=(AGE, targets)).history
    assert {"young_loss", "old_loss", "old_mae", "val_old_mae"} <= history.keys()
    predicted = model.predict(AGE)
    assert list(predicted) == ["young", "old"]
    assert predicted["old"].shape == (40, 1)
    batches = pg.data.Dataset.from_tensor_slices(AGE).batch(16)
    for name, values in model.predict(batches).items():
        np.testing.assert_array_equal(values, predicted[name])
    np.testing.assert_allclose(model(AGE)["old"].numpy(), predicted["old"], 1e-6)
    assert list(model.clone().predict(AGE)) == ["young", "old"]
