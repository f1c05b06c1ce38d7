"""Python bindings of MLIR and the dialects, for scripts.

As far as scripts of the compiler stack use them.
"""
