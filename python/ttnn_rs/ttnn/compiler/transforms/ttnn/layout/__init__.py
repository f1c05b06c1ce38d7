"""Layouts of library tensors, and the pass that gives them."""
