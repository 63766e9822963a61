"""Cells of recurrent networks: the gates of one step as one operation."""
