"""The expression language in which elementwise operations are written."""
