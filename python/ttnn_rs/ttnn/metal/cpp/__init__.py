"""C++ kernels, compiled for RISC-V against the headers in `include`."""
