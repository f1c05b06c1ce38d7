"""The dialect of kernels."""
