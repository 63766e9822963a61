"""Shared by every operation: node construction, kernel requests, samples, WGSL templates."""
