"""Ports of whole networks, one file each.

`examples/models` of the repository is this folder.

`python -m ttnn demo NAME` runs them, measures their distance to torch and their time. A port needs torch, which reads
its weights and is its reference, and knows nothing of the demo.
"""
