"""Programs of frameworks as tensor operations (`ttir`).

One folder for each format, one builder for all.
"""
