"""Gradients, one file per subject: every operator `*_bw` is a composition of forward operators, written as such."""
