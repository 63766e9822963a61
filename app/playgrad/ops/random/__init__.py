"""Random numbers from a seed and a step: uniform, normal, and dropout."""
