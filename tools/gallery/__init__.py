"""The pictures of the gallery of examples, painted from the trained examples."""
