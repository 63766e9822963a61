"""The end that normalization layers have in common: a factor and an offset for each channel."""

from __future__ import annotations

from typing import Any

from playgrad.nn import constraints, initializers, regularizers
from playgrad.nn.layer import Layer


class ScaledLayer(Layer):
    """A layer whose result is multiplied by ``gamma`` and added to ``beta``, if it has them."""

    def set_scale(
        self,
        center: bool,
        scale: bool,
        beta_initializer: Any,
        gamma_initializer: Any,
        beta_regularizer: Any,
        gamma_regularizer: Any,
        beta_constraint: Any,
        gamma_constraint: Any,
    ) -> None:
        """Take the arguments of the constructor that concern ``beta`` and ``gamma``."""
        self.center = bool(center)
        self.scale = bool(scale)
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)

    def add_scale(self, *shape: int) -> None:
        """Add the variables "gamma" and "beta" of ``shape``, if the layer has them."""
        if self.scale:
            self.add_weight(
                "gamma",
                shape,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.add_weight(
                "beta",
                shape,
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
