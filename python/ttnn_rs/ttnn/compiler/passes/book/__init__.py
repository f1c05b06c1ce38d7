"""Passes of the book, from layouts to calls of the library and to kernels."""
