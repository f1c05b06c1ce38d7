"""Gradients, one file per subject.

Every operator `*_bw` is a composition of forward operators, written as such.
"""
