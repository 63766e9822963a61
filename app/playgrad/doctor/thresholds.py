"""The limits of the doctor, all of them: when something is an illness, and how much looking costs.

They are set so that no example of the gallery has a finding, and that a learning rate which is ten
times too large or too small has one.
"""

# Cost

FIRST_EXAMINATION_SECONDS = 1.0
"""Of training before the first examination: short trainings are examined at their end."""
EXAMINATION_SECONDS = 3.0
"""Between two examinations of the layers; nobody reads faster."""
LARGEST_SHARE = 0.05
"""Of the training time that examinations may take."""
GUESSED_SECONDS = 0.05
"""Of the first examination of a small network, which builds its gradients; later ones are
measured."""
SEARCHED_SAMPLES = 1000
"""Samples among which the origin of a NaN is looked for, all that the excerpt has."""

# Losses

FEWEST_STEPS = 60
"""Before this many steps nothing is said of the course of the loss: it may still begin to fall."""
FEWEST_ROUNDS = 3
"""Rounds through the data before a loss that does not fall is an illness, or else `MANY_STEPS`."""
MANY_STEPS = 500
"""Steps after which a loss should have begun to fall, however large the data."""
WINDOW = 0.2
"""The last part of the steps, whose median loss is the current loss."""
FIRST_STEPS = 10
"""The first steps, whose median loss is the loss at the start."""
LEARNT = 0.9
"""Of the loss at the start, or of always guessing the mean: a loss below has fallen."""
FLAT = 0.97
"""A loss above this part of both has not fallen at all."""
DIVERGED = 20.0
"""Times the loss at the start, of a training that is lost: chance makes peaks of less than ten."""
OVERSHOT = 1000.0
"""Times the loss at the start, that a step has reached which went far beyond its aim."""
WORSE = 1.2
"""Times the loss of guessing the mean: a network that has learnt nothing is not worse than that."""

# Learning rates

MOMENTUM = 0.5
"""From this momentum on, SGD has the rates of "momentum": steps add up."""
AHEAD = 10.0
"""The loss is also tried at this multiple of the way from the first weights to the current ones,
and at its powers while the loss falls: for a rate that is far too small, ten times as far is
nothing."""
FARTHEST = 1e7
"""The last multiple that is tried: float32 has seven digits."""
GAIN_AHEAD = 0.9
"""The loss there, as a part of the current one, below which the steps were too short."""
STILL = 0.02
"""Of their first norm that weights have moved at most, if steps are too short to learn anything."""
FAR_BELOW = 0.25
"""Of the largest usual rate, up to which one may be too small although it is usual."""
HARDLY = 0.7
"""Of the loss at the start: a training that ends above has hardly begun."""
STILL_FALLING = 0.995
"""The loss at the end, as a part of that in the middle, below which it has not come to rest."""
ADVISED = 0.5
"""Of the largest usual rate: the highest that is advised, as many networks do not bear more."""
MOVED = 5.0
"""Times their first norm that weights have moved without learning, if steps are too long."""

# Gradients and units

EXPLODING = 100.0
"""Norm of a layer's gradient over that of its weights: a usual step then replaces the weights."""
VANISHING = 1e-4
"""Gradient per weight of the first layer over the largest of all: it learns 10,000 times slower."""
FEWEST_LAYERS = 4
"""With weights, of a network in which gradients can vanish or explode on their way."""
DEAD_SHARE = 0.6
"""Of a layer's units that are 0 for every sample. A third is usual after ReLU."""
WEAK = 0.1
"""Root mean square of a dense layer's weights, in units of 1 / sqrt(inputs): usual ones have about
1, and a few layers with a tenth let nothing through."""
FEWEST_UNITS = 4
"""Of a layer that is examined for dead units."""

# Data

LARGE = 20.0
"""Root mean square of inputs or targets: initial weights are made for 1, and bytes have 80."""
TINY = 1e-3
"""Root mean square below which the first layer hardly tells inputs from 0, or targets."""
FEWEST_PAIRS = 60
"""Samples of which neighbours are compared."""
MOST_PAIRS = 400
"""Their distances are all pairs: 160,000."""
FEWEST_OF_A_CLASS = 4
"""Samples for each class, on average: with fewer, neighbours are rarely of the same."""
AGREEMENT = 3.0
"""Standard errors above chance by which neighbours agree in data that can be learnt."""
EXPECTED = 2.0
"""Times that, of test data whose neighbours agree so much that training data's must."""
CLEAR = 3.0
"""Times that, of test data whose neighbours agree beyond doubt."""

# Overfitting

FEWEST_TESTS = 6
"""Epochs with a test loss before its course means anything."""
TESTS_SINCE_BEST = 3
"""Epochs since the lowest test loss."""
RISEN = 1.2
"""Median of the last test losses over the lowest one."""
RISEN_OF_GUESS = 0.1
"""The least rise, as a part of the loss of guessing: tiny losses triple by chance."""
APART = 2.0
"""Median of the last test losses over the training loss: otherwise both rise together."""
