"""A table of Keras' public classes beside those of playgrad."""
