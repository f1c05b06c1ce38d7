"""Matrix multiplication, from the Python call to the one engine call.

`resolve` decides the program without a device; `matmul` runs it.
"""
