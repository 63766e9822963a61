"""Measures the page's GPU while no program runs, a probe at a time, and says what it runs."""

from __future__ import annotations

from dataclasses import asdict

from playgrad.devices import registry
from playgrad.devices.tuning import default_tuning
from playgrad.errors import PlaygradError
from playgrad.runtime.hooks import Event
from playgrad.runtime.tuner import PATIENCE, Tuner


class IdleTuner:
    """The rule of `runtime.tuner.ensure_tuned`, in pieces between which a run may begin."""

    def __init__(self) -> None:
        self._tuner: Tuner | None = None

    def step(self) -> Event | None:
        """Measure one probe if the page's GPU wants it; the event that tells which kernels it runs,
        and whether more is wanted. None where there is no GPU.

        Raises:
            KeyboardInterrupt: a stop ended it; the probe is made again.
        """
        adapters = registry.gpu_adapters()
        if not adapters:
            return None
        info = adapters[0]
        if registry.known_tuning(info) is None and not info.is_software:
            self._measure()
        known = registry.known_tuning(info)
        return {
            "kind": "tuning",
            "kernels": asdict(known or default_tuning(info.is_software, info.has_quads)),
            "measured": known is not None,
            "wanted": known is None and not info.is_software,
        }

    def _measure(self) -> None:
        if self._tuner is None or self._tuner.device.lost:
            self._tuner = Tuner(registry.gpu(0), patience=PATIENCE)
        tuner = self._tuner
        try:
            tuner.measure_next()
        except PlaygradError:
            # Measuring must not break it again and again: the defaults run from now on.
            registry.save_tuning(tuner.device, default_tuning(is_software=False))
        if tuner.is_done:
            registry.save_tuning(tuner.device, tuner.tuning())
