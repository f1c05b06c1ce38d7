"""Operators that create tensors."""
