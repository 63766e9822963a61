"""Lines that a Keras user types from memory, and programs in which they stand."""

# ruff: noqa: E501 - lines as they are typed

from __future__ import annotations

START = """
import numpy as np
import playgrad as pg
from playgrad import nn

numbers = np.random.default_rng(0)
x_train = numbers.random((96, 28, 28)).astype("float32")
y_train = numbers.integers(0, 10, 96).astype("int32")
x_test, y_test = x_train[:32], y_train[:32]
"""

MODEL = """
model = pg.Sequential([nn.Flatten(), nn.Dense(16, activation="relu"), nn.Dense(10, activation="softmax")])
"""

COMPILE = """
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
"""

FIT = """
history = model.fit(x_train, y_train, epochs=1, verbose=0)
"""

TRAINED = START + MODEL + COMPILE + FIT

IMPORTS = {
    "import keras": "keras.layers.Dense(3)",
    "import tensorflow as tf": "tf.keras.layers.Dense(3)",
    "from tensorflow import keras": "model = keras.Sequential([keras.layers.Dense(3)])",
    "from keras import layers": "layers.Dense(3)",
    "from tensorflow.keras import layers, models": "models.Sequential([layers.Dense(3)])",
    "from keras.models import Sequential": "Sequential()",
    "from keras.layers import Dense, Dropout, Flatten": "Dense(3), Dropout(0.5), Flatten()",
    "from tensorflow.keras.optimizers import Adam": "Adam(0.001)",
    "from keras.callbacks import EarlyStopping, ModelCheckpoint": "EarlyStopping(patience=2)",
    "from keras.utils import to_categorical": "to_categorical(np.array([1, 2]), 10)",
    "from keras.datasets import mnist": "mnist",
    "from keras import backend as K": "K.clear_session()",
}
"""Import lines, and a use of what they import."""

DATA = [
    "(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()",
    "(x_train, y_train), (x_test, y_test) = pg.data.mnist.load_data()",
    "(x, y), _ = tf.keras.datasets.fashion_mnist.load_data()",
    "(x, y), _ = keras.datasets.cifar10.load_data()",
    "x_train = x_train.reshape(-1, 28, 28, 1).astype('float32') / 255",
    "y_train = keras.utils.to_categorical(y_train, num_classes=10)",
    "x_train = keras.utils.normalize(x_train, axis=1)",
    "dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(96).batch(32)",
    "windows = tf.data.Dataset.range(10).window(5, shift=1, drop_remainder=True)"
    ".flat_map(lambda w: w.batch(5)).map(lambda w: (w[:-1], w[-1:])).shuffle(10).batch(2).prefetch(1)",
    "keras.utils.set_random_seed(42)",
]

LAYERS = [
    "model = keras.Sequential()",
    "model = pg.models.Sequential([pg.layers.Flatten(), pg.layers.Dense(10)])",
    "model = keras.Sequential([keras.layers.Flatten(input_shape=(28, 28)), keras.layers.Dense(10)])",
    "model = keras.Sequential([keras.Input(shape=(784,)), layers.Dense(10, activation='softmax')])",
    "model = keras.models.Sequential([keras.layers.InputLayer(input_shape=(784,)), keras.layers.Dense(3)])",
    "model = pg.Sequential([nn.Dense(64, input_dim=784), nn.Dense(10)])",
    "model.add(layers.Dense(64, activation='relu'))",
    "model.add(Dense(10, activation=tf.nn.softmax))",
    "model.add(pg.layers.Conv2D(32, (3, 3), padding='same', activation='relu', input_shape=(28, 28, 1)))",
    "model.add(layers.MaxPooling2D(pool_size=(2, 2)))",
    "model.add(layers.AvgPool2D())",
    "model.add(layers.Dropout(rate=0.25))",
    "model.add(layers.BatchNormalization())",
    "model.add(layers.LeakyReLU(alpha=0.1))",
    "model.add(layers.Dense(8, kernel_regularizer=keras.regularizers.l2(0.01)))",
    "model.add(layers.Dense(8, kernel_constraint=keras.constraints.MaxNorm(3)))",
    "model.add(layers.Bidirectional(layers.LSTM(16, return_sequences=True)))",
    "x = layers.concatenate([pg.Input((3,)), pg.Input((4,))])",
    "inputs = keras.Input(shape=(784,)); model = keras.Model(inputs=inputs, outputs=layers.Dense(10)(inputs))",
    "layer = layers.TextVectorization(max_tokens=1000)",
]  # fmt: skip

COMPILING = [
    "model.compile(optimizer='adam', loss='sparse_categorical_crossentropy', metrics=['accuracy'])",
    "model.compile(optimizer='rmsprop', loss='mse', metrics=['mae'])",
    "model.compile(keras.optimizers.Adam(learning_rate=1e-3), loss=keras.losses.SparseCategoricalCrossentropy())",
    "model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.1, momentum=0.9), loss='sparse_categorical_crossentropy')",
    "model.compile(optimizer=pg.optimizers.Adam(0.001), loss=pg.losses.SparseCategoricalCrossentropy(from_logits=True))",
    "model.compile(optimizer='SGD', loss='sparse_categorical_crossentropy', metrics=['acc'])",
    "model.compile('adam', 'sparse_categorical_crossentropy', metrics=[keras.metrics.SparseCategoricalAccuracy()])",
    "model.compile('adam', 'sparse_categorical_crossentropy', run_eagerly=True)",
    "model.compile(optimizer=keras.optimizers.Nadam(), loss='sparse_categorical_crossentropy')",
    "model.build(input_shape=(None, 28, 28))",
    "rate = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=1000, decay_rate=0.96, staircase=True)",
]  # fmt: skip

FITTING = [
    "model.fit(x_train, y_train, epochs=2, batch_size=32, validation_split=0.2)",
    "model.fit(x_train, y_train, epochs=2, validation_data=(x_test, y_test), verbose=2)",
    "model.fit(x_train, y_train, class_weight={0: 1.0, 1: 2.0}, shuffle=True)",
    "model.fit(x_train, y_train, batch_size=32, nb_epoch=2)",
    "model.fit(x_train, y_train, workers=4, use_multiprocessing=True)",
    "model.fit(x_train, y_train, callbacks=[keras.callbacks.EarlyStopping(monitor='loss', patience=3)])",
    "model.fit(x_train, y_train, callbacks=[tf.keras.callbacks.TensorBoard(log_dir='logs')])",
    "callback = pg.callbacks.ReduceLROnPlateau(monitor='loss', factor=0.5, patience=2, verbose=1)",
    "model.fit(x_train, y_train, callbacks=[pg.callbacks.LearningRateScheduler(lambda epoch: 0.1)])",
]

USING = [
    "model.summary()",
    "loss, accuracy = model.evaluate(x_test, y_test, verbose=0)",
    "probabilities = model.predict(x_test, verbose=0)",
    "classes = model.predict_classes(x_test)",
    "print(history.history['accuracy'])",
    "model.save('model.keras')",
    "model.save_weights('my.weights.h5')",
    "model = keras.models.load_model('model.keras')",
    "weights, biases = model.layers[1].get_weights()",
    "layer = model.get_layer('dense_1')",
    "keras.utils.plot_model(model, show_shapes=True)",
    "with tf.GradientTape() as tape: pass",
]

LINES = [*IMPORTS, *DATA, *LAYERS, *COMPILING, *FITTING, *USING]


def program(line: str) -> str:
    """Return a program that consists of what comes before ``line``, and of ``line``."""
    if line in IMPORTS:
        return f"import numpy as np\n{line}\n{IMPORTS[line]}\n"
    if line in DATA:
        return f"{START}{line}\n"
    if line in LAYERS:
        return f"{START}model = pg.Sequential()\n{line}\n"
    if line in COMPILING:
        targets = "np.eye(10)[y_train]" if "mse" in line else "y_train"
        fitting = FIT.replace("y_train", targets) if line.startswith("model.compile") else ""
        return f"{START}{MODEL}{line}\n{fitting}"
    return f"{TRAINED}{line}\n"


TENSORFLOW = """
import numpy as np
import tensorflow as tf

images = np.random.default_rng(0).random((32, 784)).astype("float32")
digits = np.eye(10, dtype="float32")[np.arange(32) % 10]
x = tf.placeholder(tf.float32, [None, 784])
labels = tf.placeholder(tf.float32, shape=[None, 10])
W = tf.Variable(tf.truncated_normal([784, 10], stddev=0.1))
b = tf.Variable(tf.zeros([10]))
logits = tf.add(tf.matmul(x, W), b)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
hits = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    before = sess.run(loss, feed_dict={x: images, labels: digits})
    for _ in range(5):
        sess.run(train, feed_dict={x: images, labels: digits})
    after = sess.run(loss, feed_dict={x: images, labels: digits})
assert after < before
"""

PYTORCH = """
import numpy as np
import torch.nn as nn
import torch.optim as optim

images = np.random.default_rng(0).random((32, 1, 28, 28)).astype("float32")
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2),
    nn.BatchNorm2d(8),
    nn.ReLU(inplace=True),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Dropout(p=0.2),
    nn.Linear(8 * 6 * 6, 32),
    nn.Tanh(),
    nn.Linear(32, 10, bias=False),
)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
optimizer.zero_grad()
model.compile(optimizer, criterion)
model.fit(images, np.arange(32) % 10)
"""

KERAS = """
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense, GlobalAvgPool2D as Pool

(x_train, y_train), _ = keras.datasets.mnist.load_data()
x_train = x_train[:64].reshape(-1, 28, 28, 1) / 255
y_train = keras.utils.to_categorical(y_train[:64], 10)
model = keras.models.Sequential([
    layers.Conv2D(4, 3, activation="relu", input_shape=(28, 28, 1)),
    Pool(),
    Dense(10, activation=keras.activations.softmax),
])
model.compile(
    optimizer=keras.optimizers.Adam(lr=0.01),
    loss=keras.losses.categorical_crossentropy,
    metrics=["accuracy"],
)
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2, verbose=1)
model.fit(x_train, y_train, epochs=2, callbacks=[stop], workers=2)
model.save("digits.h5")
model.load_weights("digits.h5")
assert model.layers[0].get_weights()[0].shape == (3, 3, 1, 4)
"""
