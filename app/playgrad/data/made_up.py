"""Made-up data sets for regression, graphs, recommendation and text, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.records import DataSetRecord

Array = np.ndarray[Any, Any]

_RHYME = """A snail set out to see the sea,
he packed his house, he packed his tea;
he met a toad, he met a bee,
and none could say where it might be.

A crow flew over, black and high,
and laughed to see him slither by:
"The sea is far, the road is dry."
"I have the time," was his reply.
"""


@data_set(DataSetRecord(place=9))
def used_cars(samples: int = 2000, seed: int = 0) -> tuple[Array, Array]:
    """Return features and prices of used cars.

    Cars lose value with age and distance, diesels less with distance; 5% of a price are chance.

    Args:
        samples: the number of cars.
        seed: the seed of the table.

    Returns:
        The features, float32 of shape (samples, 4): age in years, distance in kilometres, power in
        kilowatts, and 1 for a diesel, else 0. The prices in euros, float32 of shape (samples,).
    """
    random = np.random.default_rng(seed)
    age = random.uniform(0, 15, samples)
    distance = age * random.normal(14_000, 3_000, samples).clip(2_000)
    power = random.uniform(50, 200, samples)
    diesel = random.integers(0, 2, samples)
    price = (5_000 + 180 * power) * np.exp(-0.11 * age - (3e-6 - 1e-6 * diesel) * distance)
    price *= random.normal(1, 0.05, samples)
    features = np.stack([age, distance, power, diesel], axis=1)
    return features.astype(np.float32), price.astype(np.float32)


@data_set(DataSetRecord(place=10))
def film_ratings(people: int = 600, films: int = 50, seed: int = 0) -> Array:
    """Return how people rate films, after hidden tastes; they have seen about half of them.

    Args:
        people: the number of people.
        films: the number of films.
        seed: the seed of the ratings.

    Returns:
        int32 of shape (people, films): 1 to 5 stars, and 0 where there is no rating.
    """
    random = np.random.default_rng(seed)
    tastes = random.normal(size=(people, 3))
    traits = random.normal(0, 0.7, (3, films))
    liking = 3.2 + random.normal(0, 0.4, films) + tastes @ traits
    stars = (liking + random.normal(0, 0.3, liking.shape)).round().clip(1, 5)
    return np.where(random.random(stars.shape) < 0.5, stars, 0).astype(np.int32)


@data_set(DataSetRecord(place=11, class_names=tuple(f"topic {topic}" for topic in range(3))))
def citation_graph(papers: int = 300, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return papers of three topics, with their words and citations.

    Each paper has about ten of 60 words, some of them of its topic, and cites three others, mostly
    of its topic.

    Args:
        papers: the number of papers.
        seed: the seed of the graph.

    Returns:
        The words of each paper, float32 of shape (papers, 60), 0 or 1. The links, float32 of shape
        (papers, papers), 1 where one paper cites the other and on the diagonal, else 0. The topics,
        int32 of shape (papers,), 0 to 2.
    """
    random = np.random.default_rng(seed)
    topics = random.integers(0, 3, papers).astype(np.int32)
    words = np.zeros((papers, 60), np.float32)
    links = np.eye(papers, dtype=np.float32)
    for paper, topic in enumerate(topics):
        words[paper, random.integers(0, 60, 6)] = 1  # words that any paper uses
        words[paper, random.integers(0, 20, 4) + 20 * topic] = 1  # words of the topic
        for _ in range(3):
            same = random.random() < 0.85
            other = random.choice(np.flatnonzero(topics == topic) if same else papers)
            links[paper, other] = links[other, paper] = 1
    return words, links, topics


@data_set(DataSetRecord(place=12))
def rhyme() -> str:
    """Return the text of a short nursery rhyme, for models of characters.

    Returns:
        A text of eight lines, in ASCII.
    """
    return _RHYME
