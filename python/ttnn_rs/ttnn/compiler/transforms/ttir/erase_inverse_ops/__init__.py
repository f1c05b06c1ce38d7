"""Permutations and reshapes are moved until they cancel."""
