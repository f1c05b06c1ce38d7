"""Transformations of modules, one subject a file."""
