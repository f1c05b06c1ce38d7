"""Operators of transformers: attention and its parts."""
