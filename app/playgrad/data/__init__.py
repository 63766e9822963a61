"""Data sets and input pipelines.

``playgrad.data.source.set_source`` sets where the bytes of data sets are loaded from,
``playgrad.data.user_data.set_user_data`` the source of users' data sets.
"""

from types import ModuleType as _Module

from playgrad.data.absent import boston_housing, cifar10, cifar100, imdb
from playgrad.data.csr_graph import CSRGraph
from playgrad.data.dataset import Dataset
from playgrad.data.edges import (
    add_self_loops,
    coalesce,
    degree,
    gcn_norm,
    remove_self_loops,
    to_undirected,
)
from playgrad.data.fashion_mnist import fashion_mnist
from playgrad.data.graph_batches import GraphBatch, GraphData, batch_graphs, graph_dataset
from playgrad.data.graph_csv import graph_from_csv
from playgrad.data.graph_file import load_graph
from playgrad.data.idx import parse_idx
from playgrad.data.image_directory import image_dataset_from_directory
from playgrad.data.input_description import InputDescription
from playgrad.data.karate_club import karate_club
from playgrad.data.made_up import citation_graph, film_ratings, rhyme, used_cars
from playgrad.data.mnist import mnist
from playgrad.data.named_graph import NamedGraph
from playgrad.data.neighbor_sampler import NeighborSampler, infer_layers
from playgrad.data.pipeline.base import AUTOTUNE, INFINITE, UNKNOWN
from playgrad.data.png import decode_png
from playgrad.data.read_files import read_csv, read_idx, read_npz, read_png
from playgrad.data.registry import available, class_names, load
from playgrad.data.shapes import shapes
from playgrad.data.toys import circle, gauss, moons, spiral, xor
from playgrad.data.vocabulary import Vocabulary

__all__ = [
    name
    for name, value in globals().items()
    if not (name.startswith("_") or isinstance(value, _Module))
]
