"""Traces of torch and operators: calls as `networkx` graph nodes.

The official path is `ttnn.tracer`. Traces need torch and networkx, pictures graphviz; the package itself needs none.
"""
