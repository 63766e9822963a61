"""A table of Keras' public classes beside playgrad's."""
