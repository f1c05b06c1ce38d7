"""The compiler layer: MLIR text, dialects, layouts, passes, pipelines, binaries and tools.

It needs the packages of the extra `compiler` (`pip install "ttnn-rs[compiler]"`) and Python 3.11 or later.
`import ttnn` imports nothing of it.
"""
