"""Prices of used cars, from features of very different sizes.

A car's age is a few years, its mileage is tens of thousands. Every
feature is brought to mean 0 and deviation 1 with the numbers of the
training part, and so is the price. The table is made up: cars lose
value with age and distance, diesels less. Expect a mean error of
about 560 euros; always guessing the mean is off by 6,300.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

x, price = pg.data.used_cars()  # years, kilometres, kilowatts, diesel or not; euros
train, test = slice(0, 1600), slice(1600, None)
inputs = (x - x[train].mean(axis=0)) / x[train].std(axis=0)
mean, deviation = price[train].mean(), price[train].std()
targets = ((price - mean) / deviation)[:, None]

model = pg.Sequential(
    [
        nn.Dense(32, activation="relu"),
        nn.Dense(32, activation="relu"),
        nn.Dense(1),
    ]
)
model.compile(optimizer=pg.optim.Adam(0.005), loss=nn.Huber())
model.fit(inputs[train], targets[train], batch_size=50, epochs=20, verbose=0)

predicted = mean + deviation * model.predict(inputs[test])[:, 0]
guess = np.abs(mean - price[test]).mean()
error = np.abs(predicted - price[test]).mean()
print(f"mean error {error:.0f} euros; {guess:.0f} if all prices were the mean")
for car, euros in zip(x[test][:3], predicted[:3], strict=True):
    print(f"{car[0]:.0f} years, {car[1]:,.0f} km, {car[2]:.0f} kW: {euros:,.0f} euros")
