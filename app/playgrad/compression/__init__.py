"""Smaller networks: integer arithmetic, fewer weights, shared weights, and what they cost."""
