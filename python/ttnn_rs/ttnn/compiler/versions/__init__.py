"""Language versions: read into one form, and written from it."""

from ttnn.compiler.versions.text import parse_module, print_module

__all__ = ["parse_module", "print_module"]
