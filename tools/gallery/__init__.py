"""The pictures of the gallery of examples, painted from what each example has trained."""
