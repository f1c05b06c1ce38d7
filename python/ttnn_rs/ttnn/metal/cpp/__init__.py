"""C++ kernels: compiled for the core's RISC-V processors against the headers in `include`."""
