"""Layers, losses, metrics, models and their training."""

from types import ModuleType as _Module

from playgrad.data.preprocessing.categories import CategoryEncoding, Discretization, Hashing
from playgrad.data.preprocessing.lookups import IntegerLookup, StringLookup
from playgrad.data.preprocessing.text_vectorization import TextVectorization
from playgrad.inspection.histogram_recorder import Histograms
from playgrad.models.inputs import Input
from playgrad.models.model import Model
from playgrad.models.sequential import Sequential
from playgrad.nn.activation_layers import ELU, LeakyReLU, ReLU, RReLU, Softmax
from playgrad.nn.attention import MultiHeadAttention
from playgrad.nn.augmentation import (
    RandomBrightness,
    RandomContrast,
    RandomFlip,
    RandomRotation,
    RandomTranslation,
    RandomZoom,
)
from playgrad.nn.basic import (
    Activation,
    Dropout,
    Flatten,
    Permute,
    RepeatVector,
    Rescaling,
    Reshape,
)
from playgrad.nn.bidirectional import Bidirectional
from playgrad.nn.borders import Cropping1D, Cropping2D, ZeroPadding1D, ZeroPadding2D
from playgrad.nn.class_accuracies import (
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from playgrad.nn.class_losses import (
    CategoricalHinge,
    Hinge,
    KLDivergence,
    Poisson,
    SquaredHinge,
)
from playgrad.nn.constraints import Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm
from playgrad.nn.conv import Conv1D, Conv2D
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.cross_entropy_losses import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    SparseCategoricalCrossentropy,
)
from playgrad.nn.ctc import CTC
from playgrad.nn.curve_metrics import AUC
from playgrad.nn.dense import Dense
from playgrad.nn.depthwise_conv import DepthwiseConv2D, SeparableConv2D
from playgrad.nn.dot import Dot
from playgrad.nn.embedding import Embedding
from playgrad.nn.f_scores import F1Score, FBetaScore
from playgrad.nn.fake_quantize import FakeQuantize
from playgrad.nn.feature_normalization import Normalization
from playgrad.nn.global_pooling import (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
)
from playgrad.nn.graph_attention import GATConv, GATv2Conv
from playgrad.nn.graph_conv import GCNConv, SAGEConv
from playgrad.nn.graph_networks import EdgeConv, GINConv
from playgrad.nn.graph_pooling import GlobalGraphPooling
from playgrad.nn.group_normalization import GroupNormalization
from playgrad.nn.gru import GRU
from playgrad.nn.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    Initializer,
    Ones,
    RandomNormal,
    RandomUniform,
    Zeros,
)
from playgrad.nn.lambda_layer import Lambda
from playgrad.nn.layer import Layer
from playgrad.nn.loss import Loss
from playgrad.nn.losses import MeanAbsoluteError, MeanSquaredError
from playgrad.nn.lstm import LSTM
from playgrad.nn.masking import Masking
from playgrad.nn.merge import Add, Average, Concatenate, Maximum, Minimum, Multiply, Subtract
from playgrad.nn.message_passing import MessagePassing
from playgrad.nn.metrics import Accuracy, Mean, Metric, TopKAccuracy
from playgrad.nn.more_initializers import (
    Identity,
    LecunNormal,
    LecunUniform,
    Orthogonal,
    TruncatedNormal,
    VarianceScaling,
)
from playgrad.nn.noise import GaussianNoise, SpatialDropout1D, SpatialDropout2D
from playgrad.nn.normalization import BatchNormalization, LayerNormalization
from playgrad.nn.parallel_attention import ParallelMultiHeadAttention
from playgrad.nn.parallel_dense import ColumnParallelDense, RowParallelDense, parallel_mlp
from playgrad.nn.pooling import AveragePool1D, AveragePool2D, MaxPool1D, MaxPool2D
from playgrad.nn.position_embedding import PositionEmbedding
from playgrad.nn.prelu import PReLU
from playgrad.nn.r2_score import R2Score
from playgrad.nn.ratio_metrics import (
    BinaryAccuracy,
    Precision,
    RatioMetric,
    Recall,
    RootMeanSquaredError,
)
from playgrad.nn.regression_losses import (
    CosineSimilarity,
    Huber,
    LogCosh,
    MeanAbsolutePercentageError,
    MeanSquaredLogarithmicError,
)
from playgrad.nn.regularizers import L1, L1L2, L2, Regularizer
from playgrad.nn.restricted_boltzmann_machine import RestrictedBoltzmannMachine
from playgrad.nn.rms_normalization import RMSNormalization
from playgrad.nn.simple_rnn import SimpleRNN
from playgrad.nn.time_distributed import TimeDistributed
from playgrad.nn.transformer import TransformerEncoder
from playgrad.nn.transformer_decoder import TransformerDecoder
from playgrad.nn.upsampling import UpSampling1D, UpSampling2D
from playgrad.training.averages import SwapEMAWeights
from playgrad.training.callbacks import (
    Callback,
    History,
    LambdaCallback,
    LearningRateScheduler,
    TerminateOnNaN,
)
from playgrad.training.csv_logger import CSVLogger
from playgrad.training.early_stopping import EarlyStopping
from playgrad.training.model_checkpoint import ModelCheckpoint
from playgrad.training.plateau import ReduceLROnPlateau

# Keras has both names.
AveragePooling1D, AveragePooling2D = AveragePool1D, AveragePool2D
MaxPooling1D, MaxPooling2D = MaxPool1D, MaxPool2D

__all__ = [
    name
    for name, value in globals().items()
    if not (name.startswith("_") or isinstance(value, _Module))
]
