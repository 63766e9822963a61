"""Tests of a change: the files whose imports reach what changed since a commit, nearest first."""
