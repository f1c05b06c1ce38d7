"""Traces of programs that mix torch and operators: every call becomes a node of a graph of `networkx`.

The official path is `ttnn.tracer`. Traces need torch and networkx, pictures graphviz; the package itself needs none.
"""
