"""Shared by every operation: nodes, kernel requests, samples, WGSL templates, random bits."""
