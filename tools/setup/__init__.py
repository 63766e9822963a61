"""Set-up: installs what a checkout needs beyond git. ``python -m tools.setup SCOPE``."""
