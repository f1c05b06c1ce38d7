"""The kernel API of TT-Metalium, with its C++ names.

Kernels are plain Python functions without arguments; `from ttnn.kernel_api import *` replaces the includes. Template
arguments of C++ are keyword arguments here, addresses are integers, `L1Pointer` replaces a cast to a pointer.

The names are loaded when the first of them is asked for: a program of operators never does.
"""

import typing as _typing
from threading import get_ident as _get_ident

if _typing.TYPE_CHECKING:
    from ttnn.kernel_api.accessor_args import *  # noqa: F403
    from ttnn.kernel_api.addresses import *  # noqa: F403
    from ttnn.kernel_api.arguments import *  # noqa: F403
    from ttnn.kernel_api.bindings import *  # noqa: F403
    from ttnn.kernel_api.buffer_objects import *  # noqa: F403
    from ttnn.kernel_api.circular_buffers import *  # noqa: F403
    from ttnn.kernel_api.compute import *  # noqa: F403
    from ttnn.kernel_api.constants import *  # noqa: F403
    from ttnn.kernel_api.dataflow import *  # noqa: F403
    from ttnn.kernel_api.debug import *  # noqa: F403
    from ttnn.kernel_api.fabric import *  # noqa: F403
    from ttnn.kernel_api.fabric_linear import *  # noqa: F403
    from ttnn.kernel_api.fabric_mux import *  # noqa: F403
    from ttnn.kernel_api.fpu import *  # noqa: F403
    from ttnn.kernel_api.l1 import *  # noqa: F403
    from ttnn.kernel_api.layouts import *  # noqa: F403
    from ttnn.kernel_api.objects import *  # noqa: F403
    from ttnn.kernel_api.remote_circular_buffers import *  # noqa: F403
    from ttnn.kernel_api.scratchpads import *  # noqa: F403
    from ttnn.kernel_api.sfpu import *  # noqa: F403
    from ttnn.kernel_api.sfpu_binary import *  # noqa: F403
    from ttnn.kernel_api.sfpu_integers import *  # noqa: F403
    from ttnn.kernel_api.sfpu_special import *  # noqa: F403
    from ttnn.kernel_api.sfpu_topk import *  # noqa: F403
    from ttnn.kernel_api.sfpu_variants import *  # noqa: F403
    from ttnn.kernel_api.stateful import *  # noqa: F403
    from ttnn.kernel_api.unsupported import *  # noqa: F403
else:
    _MODULES = (
        *("accessor_args", "addresses", "arguments", "bindings", "buffer_objects", "circular_buffers", "compute"),
        *(
            "constants",
            "dataflow",
            "debug",
            "fabric",
            "fabric_linear",
            "fabric_mux",
            "fpu",
            "l1",
            "layouts",
            "objects",
            "remote_circular_buffers",
        ),
        *("scratchpads", "stateful", "unsupported", "sfpu", "sfpu_binary", "sfpu_integers", "sfpu_special"),
        *("sfpu_topk", "sfpu_variants"),
    )
    _loaders: set[int] = set()  # threads that load the names now; the modules ask for each other meanwhile

    def _load() -> None:
        """Define the modules' public names here, without imports, thread-safe."""
        from importlib import import_module

        modules = [import_module(f"{__name__}.{name}") for name in _MODULES]
        homes = {__name__, *(module.__name__ for module in modules)}
        names = {
            name: value
            for module in modules
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) in homes
        }
        numbers = modules[_MODULES.index("constants")]
        names.update(INVALID=numbers.INVALID, VALID=numbers.VALID)
        names["UNSUPPORTED"] = modules[_MODULES.index("unsupported")].UNSUPPORTED
        globals().update(names, __all__=list(names))

    def __getattr__(name: str) -> object:
        """Load all names when the first is asked for."""
        thread = _get_ident()
        wanted = name == "__all__" or not name.startswith("__")
        if wanted and thread not in _loaders and "__all__" not in globals():
            _loaders.add(thread)
            try:
                _load()
            finally:
                _loaders.discard(thread)
        if wanted and name in globals():
            return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """Return every name."""
        return [*__getattr__("__all__")] if "__all__" not in globals() else [*globals()["__all__"]]
