"""Passes of the dialect `ttnn`."""
