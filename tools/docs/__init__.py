"""The documentation: its API data, and the site of guides and reference."""
