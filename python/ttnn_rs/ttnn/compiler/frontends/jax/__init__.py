"""The Python side of the PJRT plugin of jax.

Imported at the first compilation, never by `import ttnn`.
"""
