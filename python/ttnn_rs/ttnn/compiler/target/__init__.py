"""Formats that leave the compiler: binaries, C++, Python."""
