"""Counter-based random numbers, and dropout."""
