"""Tensors: creation, host buffers, transfers, conversion, indexing, files, distribution."""
