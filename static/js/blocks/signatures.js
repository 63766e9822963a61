/**
 * Parameters of what Blocks reads, by full name: in their order, with their defaults, as Python
 * writes them. A test compares them with the library.
 */

/** @type {Record<string, string>} */
export const SIGNATURES = {
  "nn.Activation": "activation, name=None",
  "nn.Add": "name=None, trainable=True, dtype=None",
  "nn.Average": "name=None, trainable=True, dtype=None",
  "nn.AveragePool1D": 'pool_size=2, strides=None, padding="valid", data_format=None, name=None',
  "nn.AveragePool2D":
    'pool_size=(2, 2), strides=None, padding="valid", data_format=None, name=None',
  "nn.AveragePooling1D": 'pool_size=2, strides=None, padding="valid", data_format=None, name=None',
  "nn.AveragePooling2D":
    'pool_size=(2, 2), strides=None, padding="valid", data_format=None, name=None',
  "nn.BatchNormalization":
    'axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", ' +
    'gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones", ' +
    "beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, " +
    "synchronized=False, name=None",
  "nn.Bidirectional": 'layer, merge_mode="concat", weights=None, backward_layer=None, name=None',
  "nn.BinaryCrossentropy":
    'from_logits=False, label_smoothing=0.0, axis=-1, reduction="sum_over_batch_size"',
  "nn.CTC": 'zero_infinity=False, reduction="sum_over_batch_size"',
  "nn.CategoricalCrossentropy":
    'from_logits=False, label_smoothing=0.0, axis=-1, reduction="sum_over_batch_size"',
  "nn.CategoricalHinge": 'reduction="sum_over_batch_size", name=None',
  "nn.Concatenate": "axis=-1, name=None",
  "nn.Conv1D":
    'filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1, ' +
    'activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", ' +
    "kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, " +
    "bias_constraint=None, name=None",
  "nn.Conv2D":
    'filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), ' +
    'groups=1, activation=None, use_bias=True, kernel_initializer="glorot_uniform", ' +
    'bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, ' +
    "activity_regularizer=None, kernel_constraint=None, bias_constraint=None, name=None",
  "nn.Conv2DTranspose":
    'filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), ' +
    'activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros", ' +
    "kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, " +
    "bias_constraint=None, name=None",
  "nn.CosineSimilarity": 'axis=-1, reduction="sum_over_batch_size"',
  "nn.Cropping1D": "cropping=(1, 1), data_format=None, name=None",
  "nn.Cropping2D": "cropping=((0, 0), (0, 0)), data_format=None, name=None",
  "nn.Dense":
    'units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", ' +
    'bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, ' +
    "activity_regularizer=None, kernel_constraint=None, bias_constraint=None, name=None",
  "nn.DepthwiseConv2D":
    'kernel_size, strides=(1, 1), padding="valid", depth_multiplier=1, data_format=None, ' +
    'dilation_rate=(1, 1), activation=None, use_bias=True, depthwise_initializer="glorot_uniform", ' +
    'bias_initializer="zeros", depthwise_regularizer=None, bias_regularizer=None, ' +
    "activity_regularizer=None, depthwise_constraint=None, bias_constraint=None, name=None",
  "nn.Dot": "axes, normalize=False, name=None",
  "nn.Dropout": "rate, noise_shape=None, seed=None, name=None",
  "nn.ELU": "alpha=1.0, name=None",
  "nn.Embedding":
    'input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None, ' +
    "embeddings_constraint=None, mask_zero=False, name=None",
  "nn.Flatten": "name=None, trainable=True, dtype=None",
  "nn.GRU":
    'units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, ' +
    'kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", ' +
    'bias_initializer="zeros", kernel_regularizer=None, recurrent_regularizer=None, ' +
    "bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, " +
    "recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, " +
    "return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False, " +
    'reset_after=True, use_cudnn="auto", zero_output_for_mask=False, name=None',
  "nn.GaussianNoise": "stddev, seed=None, name=None",
  "nn.GlobalAveragePooling1D": "data_format=None, keepdims=False, name=None",
  "nn.GlobalAveragePooling2D": "data_format=None, keepdims=False, name=None",
  "nn.GlobalMaxPooling1D": "data_format=None, keepdims=False, name=None",
  "nn.GlobalMaxPooling2D": "data_format=None, keepdims=False, name=None",
  "nn.GroupNormalization":
    'groups=32, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", ' +
    'gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, ' +
    "gamma_constraint=None, name=None",
  "nn.Hinge": 'reduction="sum_over_batch_size", name=None',
  "nn.Huber": 'delta=1.0, reduction="sum_over_batch_size"',
  "nn.KLDivergence": 'reduction="sum_over_batch_size", name=None',
  "nn.L1": "l1=0.01",
  "nn.L1L2": "l1=0.0, l2=0.0",
  "nn.L2": "l2=0.01",
  "nn.LSTM":
    'units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, ' +
    'kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", ' +
    'bias_initializer="zeros", unit_forget_bias=True, kernel_regularizer=None, ' +
    "recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, " +
    "kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, " +
    "recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, " +
    'go_backwards=False, stateful=False, unroll=False, use_cudnn="auto", zero_output_for_mask=False, ' +
    "name=None",
  "nn.Lambda": "function, output_shape=None, mask=None, arguments=None, name=None",
  "nn.LayerNormalization":
    'axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros", ' +
    'gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, ' +
    "gamma_constraint=None, name=None",
  "nn.LeakyReLU": "negative_slope=0.3, name=None",
  "nn.LogCosh": 'reduction="sum_over_batch_size", name=None',
  "nn.Masking": "mask_value=0.0, name=None",
  "nn.MaxPool1D": 'pool_size=2, strides=None, padding="valid", data_format=None, name=None',
  "nn.MaxPool2D": 'pool_size=(2, 2), strides=None, padding="valid", data_format=None, name=None',
  "nn.MaxPooling1D": 'pool_size=2, strides=None, padding="valid", data_format=None, name=None',
  "nn.MaxPooling2D": 'pool_size=(2, 2), strides=None, padding="valid", data_format=None, name=None',
  "nn.Maximum": "name=None, trainable=True, dtype=None",
  "nn.MeanAbsoluteError": 'reduction="sum_over_batch_size", name=None',
  "nn.MeanAbsolutePercentageError": 'reduction="sum_over_batch_size", name=None',
  "nn.MeanSquaredError": 'reduction="sum_over_batch_size", name=None',
  "nn.MeanSquaredLogarithmicError": 'reduction="sum_over_batch_size", name=None',
  "nn.Minimum": "name=None, trainable=True, dtype=None",
  "nn.MultiHeadAttention":
    "num_heads, key_dim=None, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, " +
    'attention_axes=None, flash_attention=None, kernel_initializer="glorot_uniform", ' +
    'bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, ' +
    "activity_regularizer=None, kernel_constraint=None, bias_constraint=None, seed=None, causal=False, " +
    "name=None",
  "nn.Multiply": "name=None, trainable=True, dtype=None",
  "nn.Normalization": "axis=-1, mean=None, variance=None, invert=False, name=None",
  "nn.PReLU":
    'alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None, ' +
    "name=None",
  "nn.Permute": "dims, name=None",
  "nn.Poisson": 'reduction="sum_over_batch_size", name=None',
  "nn.PositionEmbedding": 'sequence_length, initializer="glorot_uniform", name=None',
  "nn.RMSNormalization": "axis=-1, epsilon=1e-06, name=None",
  "nn.RReLU": "lower=0.125, upper=0.3333333333333333, seed=None, name=None",
  "nn.RandomBrightness": "factor, value_range=(0, 255), seed=None, name=None",
  "nn.RandomContrast": "factor, value_range=(0, 255), seed=None, name=None",
  "nn.RandomFlip": 'mode="horizontal_and_vertical", seed=None, data_format=None, name=None',
  "nn.RandomRotation":
    'factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0, ' +
    "data_format=None, name=None",
  "nn.RandomTranslation":
    'height_factor, width_factor, fill_mode="reflect", interpolation="bilinear", seed=None, ' +
    "fill_value=0.0, data_format=None, name=None",
  "nn.RandomZoom":
    'height_factor, width_factor=None, fill_mode="reflect", interpolation="bilinear", seed=None, ' +
    "fill_value=0.0, data_format=None, name=None",
  "nn.ReLU": "max_value=None, negative_slope=0.0, threshold=0.0, name=None",
  "nn.RepeatVector": "n, name=None",
  "nn.Rescaling": "scale, offset=0.0, name=None",
  "nn.Reshape": "target_shape, name=None",
  "nn.RestrictedBoltzmannMachine":
    'units, kernel_initializer="glorot_uniform", hidden_initializer="zeros", ' +
    'visible_initializer="zeros", seed=None, name=None',
  "nn.SeparableConv2D":
    'filters, kernel_size, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), ' +
    'depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform", ' +
    'pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None, ' +
    "pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, " +
    "depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, name=None",
  "nn.SimpleRNN":
    'units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform", ' +
    'recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None, ' +
    "recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, " +
    "kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0, " +
    "recurrent_dropout=0.0, return_sequences=False, return_state=False, go_backwards=False, " +
    "stateful=False, unroll=False, seed=None, zero_output_for_mask=False, name=None",
  "nn.Softmax": "axis=-1, name=None",
  "nn.SparseCategoricalCrossentropy":
    'from_logits=False, ignore_class=None, axis=-1, reduction="sum_over_batch_size"',
  "nn.SpatialDropout1D": "rate, seed=None, name=None",
  "nn.SpatialDropout2D": "rate, data_format=None, seed=None, name=None",
  "nn.SquaredHinge": 'reduction="sum_over_batch_size", name=None',
  "nn.Subtract": "name=None, trainable=True, dtype=None",
  "nn.TimeDistributed": "layer, name=None",
  "nn.TransformerDecoder":
    'intermediate_dim, num_heads, dropout=0.0, activation="relu", layer_norm_epsilon=1e-05, ' +
    'kernel_initializer="glorot_uniform", bias_initializer="zeros", normalize_first=False, name=None',
  "nn.TransformerEncoder":
    'intermediate_dim, num_heads, dropout=0.0, activation="relu", layer_norm_epsilon=1e-05, ' +
    'kernel_initializer="glorot_uniform", bias_initializer="zeros", normalize_first=False, name=None',
  "nn.UpSampling1D": "size=2, name=None",
  "nn.UpSampling2D": 'size=(2, 2), data_format=None, interpolation="nearest", name=None',
  "nn.ZeroPadding1D": "padding=1, data_format=None, name=None",
  "nn.ZeroPadding2D": "padding=(1, 1), data_format=None, name=None",
  "nn.Input": 'shape, batch_size=None, dtype="float32", name=None',
  "nn.Sequential": "layers=(), name=None",
  "nn.Model": "inputs=None, outputs=None, name=None",
  "optim.Adam":
    "learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, amsgrad=False, " +
    "weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, " +
    "ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.AdamW":
    "learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-07, " +
    "amsgrad=False, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, " +
    "ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.Adagrad":
    "learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-07, weight_decay=None, " +
    "clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.Lion":
    "learning_rate=0.001, beta_1=0.9, beta_2=0.99, weight_decay=None, clipnorm=None, clipvalue=None, " +
    "global_clipnorm=None, use_ema=False, ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.Momentum":
    "learning_rate=0.01, momentum=0.9, nesterov=False, weight_decay=None, clipnorm=None, " +
    "clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.RMSprop":
    "learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-07, centered=False, weight_decay=None, " +
    "clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.SGD":
    "learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=None, clipnorm=None, " +
    "clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, " +
    "ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None",
  "optim.CosineDecay":
    "initial_learning_rate, decay_steps, alpha=0.0, warmup_target=None, warmup_steps=0",
  "optim.ExponentialDecay": "initial_learning_rate, decay_steps, decay_rate, staircase=False",
  "optim.InverseTimeDecay": "initial_learning_rate, decay_steps, decay_rate, staircase=False",
  "optim.OneCycle":
    "max_learning_rate, total_steps, pct_start=0.3, div_factor=25.0, final_div_factor=10000.0",
  "optim.PiecewiseConstantDecay": "boundaries, values",
  "optim.PolynomialDecay":
    "initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False",
  "data.circle": "samples=500, noise=0.05, seed=0, ratio=None",
  "data.fashion_mnist": "",
  "data.gauss": "samples=500, noise=0.2, seed=0, ratio=None",
  "data.load": "name",
  "data.mnist": "",
  "data.moons": "samples=500, noise=0.05, seed=0, ratio=None",
  "data.shapes": "samples=3000, size=32, noise=0.05, seed=0, ratio=0.8",
  "data.spiral": "samples=500, noise=0.02, seed=0, ratio=None",
  "data.xor": "samples=500, noise=0.05, seed=0, ratio=None",
  reset_default_graph: "seed=0",
  "Model.compile":
    'optimizer="adam", loss=None, metrics=None, loss_weights=None, device="auto", strategy=None, ' +
    "placement=None, weighted_metrics=None",
  "Model.fit":
    "x=None, y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_split=0.0, " +
    "validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0, " +
    "steps_per_epoch=None, validation_steps=None, seed=None, resume=False, " +
    "drop_remainder=False",
};

/** @typedef {{name: string, default: string | null}} Parameter `default` null: it must be given */

/** Whether a call of the library makes a layer: it takes a name, and is no loss. @param {string} full */
export function makesLayer(full) {
  const names = (full.startsWith("nn.") && parametersOf(full)?.map(({ name }) => name)) || [];
  return names.includes("name") && !names.includes("reduction");
}

/** @param {string} full @returns {Parameter[] | null} null if it is not known */
export function parametersOf(full) {
  const signature = Object.hasOwn(SIGNATURES, full) ? SIGNATURES[full] : null;
  if (signature === null) return null;
  return (signature.match(/\w+(=(\([^=]*\)|[^,]*))?/g) ?? []).map((each) => {
    const [name, ...value] = each.split("=");
    return { name, default: value.length > 0 ? value.join("=") : null };
  });
}
