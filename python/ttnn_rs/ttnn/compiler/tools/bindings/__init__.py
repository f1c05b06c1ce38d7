"""The Python bindings of MLIR and of the compiler's dialects, as far as scripts of the compiler stack use them."""
