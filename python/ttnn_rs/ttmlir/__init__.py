"""The compiler layer under the official import name.

The code is in `ttnn.compiler`.
"""
