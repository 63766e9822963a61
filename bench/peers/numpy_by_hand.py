"""The same step written by hand in idiomatic NumPy: the yardstick for ``cpu``.

The file is self-contained: it is also prepended to the program that runs in playgrad's page.
Convolutions are products with a matrix of windows; its gradient is added back window by window.
"""

from __future__ import annotations

import json
import math

import numpy as np


class Dense:
    def __init__(self, kernel, bias, activation):
        self.weights = [kernel, bias]
        self.activation = activation

    def forward(self, x):
        self.x = x
        self.y = x @ self.weights[0]
        self.y += self.weights[1]
        if self.activation == "relu":
            np.maximum(self.y, 0, out=self.y)
        elif self.activation == "tanh":
            np.tanh(self.y, out=self.y)
        return self.y

    def backward(self, grad, is_first):
        if self.activation == "relu":
            grad = grad * (self.y > 0)
        elif self.activation == "tanh":
            grad = grad * (1 - self.y * self.y)
        self.grads = [self.x.T @ grad, grad.sum(0)]
        return None if is_first else grad @ self.weights[0].T


class Conv:
    """Stride 1, followed by relu."""

    def __init__(self, kernel, bias, padding):
        self.weights = [kernel, bias]
        self.around = kernel.shape[0] // 2 if padding == "same" else 0

    def forward(self, x):
        kernel, bias = self.weights
        n = self.around
        if n:
            x = np.pad(x, ((0, 0), (n, n), (n, n), (0, 0)))
        self.padded = x.shape
        view = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], (1, 2))
        batch, height, width = view.shape[:3]
        self.columns = view.transpose(0, 1, 2, 4, 5, 3).reshape(batch * height * width, -1)
        y = self.columns @ kernel.reshape(-1, kernel.shape[3])
        y += bias
        np.maximum(y, 0, out=y)
        self.y = y.reshape(batch, height, width, -1)
        return self.y

    def backward(self, grad, is_first):
        kernel = self.weights[0]
        batch, height, width, outputs = grad.shape
        grad = (grad * (self.y > 0)).reshape(-1, outputs)
        self.grads = [(self.columns.T @ grad).reshape(kernel.shape), grad.sum(0)]
        if is_first:
            return None
        columns = grad @ kernel.reshape(-1, outputs).T
        columns = columns.reshape(batch, height, width, *kernel.shape[:3])
        result = np.zeros(self.padded, grad.dtype)
        for i in range(kernel.shape[0]):
            for j in range(kernel.shape[1]):
                result[:, i : i + height, j : j + width] += columns[:, :, :, i, j]
        n = self.around
        return result[:, n:-n, n:-n] if n else result


class Pool:
    """The maximum of 2 x 2."""

    weights = ()
    grads = ()

    def forward(self, x):
        self.corners = [x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)]
        a, b, c, d = self.corners
        self.y = np.maximum(np.maximum(a, b), np.maximum(c, d))
        self.shape = x.shape
        return self.y

    def backward(self, grad, is_first):
        result = np.empty(self.shape, grad.dtype)
        for corner, (i, j) in zip(self.corners, ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True):
            # Equal pixels all get the gradient: they are zeros after a relu, which blocks it.
            result[:, i::2, j::2] = grad * (corner == self.y)
        return result


class Flatten:
    weights = ()
    grads = ()

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, grad, is_first):
        return grad.reshape(self.shape)


class Adam:
    def __init__(self, weights, rate):
        self.rate, self.count = rate, 0
        self.state = [(np.zeros_like(w), np.zeros_like(w), np.empty_like(w)) for w in weights]

    def update(self, weights, grads):
        self.count += 1
        rate = self.rate / (1 - 0.9**self.count)
        correction = 1 / math.sqrt(1 - 0.999**self.count)
        for weight, grad, (m, v, room) in zip(weights, grads, self.state, strict=True):
            m *= 0.9
            m += np.multiply(grad, 0.1, out=room)
            v *= 0.999
            np.multiply(grad, grad, out=room)
            room *= 0.001
            v += room
            np.sqrt(v, out=room)
            room *= correction
            room += 1e-7
            np.divide(m, room, out=room)
            room *= rate
            weight -= room


class SGD:
    def __init__(self, weights, rate):
        self.rate = rate

    def update(self, weights, grads):
        for weight, grad in zip(weights, grads, strict=True):
            weight -= self.rate * grad


class NumpyTrainer:
    backend = "cpu"

    def __init__(self, read, workload):
        spec = json.loads(bytes(read(f"{workload}.json")))
        blob = bytes(read(f"{workload}.bin"))

        def array(entry):
            count = int(np.prod(entry["shape"]))
            values = np.frombuffer(blob, entry["dtype"], count, entry["offset"])
            return values.reshape(entry["shape"]).copy()

        weights = iter([array(entry) for entry in spec["weights"]["tensorflow"]])
        self.layers = []
        for layer in spec["layers"]:
            kind = layer["kind"]
            if kind == "dense":
                self.layers.append(Dense(next(weights), next(weights), layer["activation"]))
            elif kind == "conv":
                self.layers.append(Conv(next(weights), next(weights), layer["padding"]))
            else:
                self.layers.append({"pool": Pool, "flatten": Flatten}[kind]())
        self.weights = [weight for layer in self.layers for weight in layer.weights]
        optimizer = SGD if spec["optimizer"] == "sgd" else Adam
        self.optimizer = optimizer(self.weights, spec["learning_rate"])
        self.loss = self.squared_error if spec["loss"] == "mse" else self.cross_entropy
        x, y, size = array(spec["x"]), array(spec["y"]), spec["batch"]
        self.batches = [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]
        self.count = 0

    def squared_error(self, result, y):
        error = result - y
        return np.mean(error * error), error * (2 / error.size)

    def cross_entropy(self, logits, labels):
        shifted = logits - logits.max(1, keepdims=True)
        exps = np.exp(shifted)
        sums = exps.sum(1, keepdims=True)
        rows = np.arange(len(labels))
        loss = np.mean(np.log(sums[:, 0]) - shifted[rows, labels])
        exps /= sums
        exps[rows, labels] -= 1
        exps /= len(labels)
        return loss, exps

    def step_and_read(self):
        x, y = self.batches[self.count % len(self.batches)]
        self.count += 1
        for layer in self.layers:
            x = layer.forward(x)
        loss, grad = self.loss(x, y)
        for layer in reversed(self.layers):
            grad = layer.backward(grad, layer is self.layers[0])
        self.optimizer.update(self.weights, [grad for layer in self.layers for grad in layer.grads])
        return float(loss)

    def steps(self, count):
        for _ in range(count):
            loss = self.step_and_read()
        return loss
