"""Operators, one folder per TT-NN category.

Importing this package registers all of them and has their names.
"""

from importlib import import_module
from pkgutil import walk_packages

from ttnn.operation.registry import exports, name_again
from ttnn.operation.vendor_names import names

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

name_again("experimental.quasar.", names())

# Names with a dot are found through `ttnn.namespaces`.
_plain = {name: operation for name, operation in exports().items() if "." not in name}
__all__ = list(_plain)
globals().update(_plain)
