"""Operators as program descriptors, one subject per module.

`create_descriptor` returns kernels, circular buffers and cores; `ttnn.generic_op` runs the operator.
"""
