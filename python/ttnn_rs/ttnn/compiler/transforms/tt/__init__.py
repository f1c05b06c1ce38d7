"""Passes of the first version, whose dialect is `tt`."""
