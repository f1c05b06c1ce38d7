"""The namespaces of operators whose names have a dot, such as `ttnn.transformer` and `ttnn.experimental`."""

import sys
from types import ModuleType
from typing import Any

from ttnn.operation import activations
from ttnn.operation.registry import exports
from ttnn.operation.vendor_names import missing


class Namespace(ModuleType):
    """Operators below a name. One that is not here says why when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        """Refuse a name that is not here.

        Raises:
            AttributeError: always; `MissingNameError` if the official package has the name.
        """
        raise missing(f"{self.__name__.partition('.')[2]}.{name}")


def _made() -> dict[str, Namespace]:
    """Return all namespaces by their names below `ttnn`, filled."""
    found: dict[str, Namespace] = {}
    for name, operation in exports().items():
        *path, last = name.split(".")
        for depth in range(1, len(path) + 1):
            inner = ".".join(path[:depth])
            if inner not in found:
                found[inner] = sys.modules[f"ttnn.{inner}"] = Namespace(f"ttnn.{inner}", f"Operators of ttnn.{inner}.")
                if depth > 1:
                    setattr(found[".".join(path[: depth - 1])], path[depth - 1], found[inner])
        if path:
            setattr(found[".".join(path)], last, operation)
    return found


def _with_modules(found: dict[str, Namespace]) -> dict[str, Namespace]:
    """Return the namespaces with the official modules below them that have no operators of their own."""
    operations = found.setdefault("operations", Namespace("ttnn.operations", "Operators of ttnn.operations."))
    sys.modules["ttnn.operations"] = operations
    sys.modules["ttnn.operations.activations"] = activations
    operations.activations = activations
    moreh = Namespace("ttnn.operations.moreh", "Operators of the moreh family, without that word.")
    for name, operation in exports().items():
        if name.startswith("moreh_"):
            setattr(moreh, name.removeprefix("moreh_"), operation)
    sys.modules["ttnn.operations.moreh"] = operations.moreh = moreh
    return found


_outer = {name: namespace for name, namespace in _with_modules(_made()).items() if "." not in name}
__all__ = list(_outer)
globals().update(_outer)
