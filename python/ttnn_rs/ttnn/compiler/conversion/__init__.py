"""Conversions between dialects, to binaries, and to `ttnn` calls."""
