"""Pooling and resampling of images."""
