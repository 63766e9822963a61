"""Of healthy trainings the doctor says nothing, of faulty ones the fault first."""

from __future__ import annotations

import pytest

from tests.doctor.clinic import FAULTY, HEALTHY, Training, examined
from tests.sweeps import dice, sweep


@pytest.mark.parametrize(
    "training", sweep(HEALTHY, dice("healthy trainings").sample(HEALTHY, 3)), ids=str
)
def test_nothing_is_said_of_a_healthy_training(training: Training) -> None:
    assert examined(training).codes == ()


@pytest.mark.parametrize(
    "training", sweep(FAULTY, dice("faulty trainings").sample(FAULTY, 5)), ids=str
)
def test_the_fault_of_a_training_is_the_first_finding(training: Training) -> None:
    outcome = examined(training, mend=False)
    assert outcome.is_right(training), outcome.codes
