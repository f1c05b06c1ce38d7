"""Execution of binaries and modules through the operators of this package."""
