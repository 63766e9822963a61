"""Measures the page's GPU while no program runs, a piece of a probe at a time."""

from __future__ import annotations

from dataclasses import asdict

from playgrad.devices import registry
from playgrad.devices.first_choices import unmeasured_tuning
from playgrad.errors import PlaygradError
from playgrad.runtime.hooks import Event
from playgrad.runtime.tuner import PATIENCE, Tuner


class IdleTuner:
    """Measures in pieces between which a run can begin."""

    def __init__(self) -> None:
        self._tuner: Tuner | None = None

    def step(self) -> Event | None:
        """Do a piece of measuring, if the page's GPU has no tuning.

        Returns:
            An event with the kernels that the GPU runs, and whether to call `step` again
            ("wanted"); None without a GPU.

        Raises:
            KeyboardInterrupt: a stop interrupted the probe, which will be measured again.
        """
        adapters = registry.gpu_adapters()
        if not adapters:
            return None
        info = adapters[0]
        if registry.known_tuning(info) is None and not info.is_software:
            self._measure()
        tuning = registry.known_tuning(info)
        return {
            "kind": "tuning",
            "kernels": asdict(tuning or unmeasured_tuning(info)),
            "measured": tuning is not None,
            "wanted": tuning is None and not info.is_software,
        }

    def pause(self) -> None:
        """Free what measuring has on the device."""
        if self._tuner is not None and not self._tuner.device.lost:
            self._tuner.pause()

    def _measure(self) -> None:
        if self._tuner is None or self._tuner.device.lost:
            self._tuner = Tuner(registry.gpu(0), patience=PATIENCE)
        tuner = self._tuner
        try:
            tuner.advance()
        except PlaygradError:
            # Do not let measuring break it again: from now on it runs the first choice.
            registry.save_tuning(tuner.device, unmeasured_tuning(tuner.device.host.info))
        if tuner.is_done:
            registry.save_tuning(tuner.device, tuner.tuning())
