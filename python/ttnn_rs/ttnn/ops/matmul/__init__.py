"""Matrix multiplication: everything between the Python call and the one engine call.

`resolve` decides the program without a device; `operator` runs it.
"""
