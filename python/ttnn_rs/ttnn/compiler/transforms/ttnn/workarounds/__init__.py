"""`ttnn-workaround`: what kernels of the library ask of operands, and operations that no kernel takes as they are."""
