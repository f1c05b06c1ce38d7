"""C++ source from the dialects `emitc` and `ttkernel`."""
