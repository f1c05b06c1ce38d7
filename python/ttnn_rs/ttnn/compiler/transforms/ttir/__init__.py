"""Passes of the dialect `ttir`."""
