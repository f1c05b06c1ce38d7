"""Tensors: creation, host buffers, transfer to and from devices, conversion, indexing, files, distribution."""
