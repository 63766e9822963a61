"""Set-up: everything a checkout needs and git does not hold. ``python -m tools.setup SCOPE``."""
