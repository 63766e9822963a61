"""Files of Keras 3 as models."""
