"""Transformations of modules: a folder for each kind, and here what they share. `catalog` lists them."""
