"""The documentation: the site of guides and reference."""
