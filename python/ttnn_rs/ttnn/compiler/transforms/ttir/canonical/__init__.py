"""Folds and canonical forms of tensor operations, by subject; `registry` lists them."""
