"""Operators of the Moreh framework."""
