"""Binaries: the FlatBuffers schemas as data, their reader and writer."""
