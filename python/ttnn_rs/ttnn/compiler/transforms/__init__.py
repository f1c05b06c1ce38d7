"""Passes: a folder for each dialect, and here what they share."""
