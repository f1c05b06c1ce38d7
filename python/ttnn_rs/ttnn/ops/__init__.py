"""Operators, one folder per TT-NN category. Importing this package registers all of them and has their names."""

from importlib import import_module
from pkgutil import walk_packages

from ttnn.operation.registry import exports

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = list(exports())
globals().update(exports())
