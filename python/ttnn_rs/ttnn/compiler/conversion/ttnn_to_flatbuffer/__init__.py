"""TTNN binaries from modules of the dialect `ttnn`."""
