"""MLIR text: parser, writer, diagnostics, and the one module that knows the version of xdsl."""
