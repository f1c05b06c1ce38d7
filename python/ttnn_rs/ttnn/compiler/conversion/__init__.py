"""Conversions from one dialect to another, to binaries and to calls of `ttnn`."""
