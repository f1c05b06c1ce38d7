"""Functions of the vector unit on tiles of Dst: one line per function.

`X_tile_init()` sets the unit up, `X_tile(idst, ...)` changes a tile in place, `X_binary_tile(idst0, idst1, odst)` joins
two. Parameters are raw words, as in C++: the bits of a float32, or an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn import _engine
from ttnn.exceptions import KernelArgumentError
from ttnn.kernel_api.context import here
from ttnn.vendor_enum import VendorEnum

_KEEPS = -1
"""The function leaves the format of the tile as it is."""


class VectorMode(VendorEnum):
    """Faces of a tile that a function works on: all, the first row of them, the first column."""

    NONE = 0
    R = 1
    C = 2
    RC = 4


_MODES = {0: 0, 4: 0, 1: 1, 2: 2}


class _Function:
    """A tile function; made into a call of the engine once per set of parameters."""

    def __init__(
        self, name: str, init: str, function: tuple[str, str], tiles: int, parameters: int, makes: int = _KEEPS
    ) -> None:
        self._names = (name, init)
        self._function = function
        self._tiles = tiles
        self._count = parameters
        self._makes = makes
        self._calls: dict[tuple[int, ...], _engine.VectorCall] = {}
        self.__name__ = name

    def _call(self, parameters: tuple[int, ...]) -> _engine.VectorCall:
        call = self._calls.get(parameters)
        if call is None:
            if len(parameters) != self._count:
                raise KernelArgumentError(f"{self._names[0]}: {self._count} parameters expected, got {len(parameters)}")
            words = [word & 0xFFFF_FFFF for word in parameters]
            call = _engine.VectorCall(self._names, self._function, self._tiles, words, self._makes)
            if len(self._calls) > 256:
                self._calls.clear()
            self._calls[parameters] = call
        return call


class Unary(_Function):
    """A function of one tile."""

    def __call__(self, idst: int, *parameters: int, vector_mode: VectorMode | int = 4) -> None:
        """Change `Dst[idst]`."""
        call = self._calls.get(parameters) or self._call(parameters)
        mode = vector_mode.value if isinstance(vector_mode, VectorMode) else vector_mode
        here.run.vector(call, idst, idst, idst, idst, _MODES[mode])


class Binary(_Function):
    """A function of two tiles."""

    def __call__(self, idst0: int, idst1: int, odst: int, *parameters: int) -> None:
        """`Dst[odst]` = function of `Dst[idst0]` and `Dst[idst1]`."""
        call = self._calls.get(parameters) or self._call(parameters)
        here.run.vector(call, idst0, idst1, idst0, odst, 0)


class Ternary(_Function):
    """A function of three tiles."""

    def __call__(self, idst0: int, idst1: int, idst2: int, odst: int, *parameters: int) -> None:
        """`Dst[odst]` = function of three tiles of Dst."""
        call = self._calls.get(parameters) or self._call(parameters)
        here.run.vector(call, idst0, idst1, idst2, odst, 0)


def _init(name: str) -> Callable[..., None]:
    """Return the init call of this name."""
    call = _engine.VectorCall((name, name), ("identity", "default"), 1, [], _KEEPS)

    def init(*_: Any, **__: Any) -> None:
        here.run.vector_init(call)

    init.__name__ = init.__qualname__ = name
    init.__doc__ = "Set up the vector unit."
    return init


def _unary(name: str, function: str, variant: str = "default", parameters: int = 0, init: str = "") -> Unary:
    return Unary(f"{name}_tile", init or f"{name}_tile_init", (function, variant), 1, parameters)


def _binary(name: str, function: str, variant: str = "default", init: str = "") -> Binary:
    return Binary(f"{name}_tile", init or f"{name}_tile_init", (function, variant), 2, 0)


class _Exp:
    """`exp_tile<approx>`: the template argument is the keyword `approx`."""

    def __init__(self, accurate: Unary, approximate: Unary) -> None:
        self._accurate, self._approximate = accurate, approximate

    def __call__(self, idst: int, vector_mode: VectorMode | int = 4, *, approx: bool = False) -> None:
        """Change `Dst[idst]`."""
        function = self._approximate if approx else self._accurate
        function(idst, vector_mode=vector_mode)


def _approximable(name: str, accurate: tuple[str, str], approximate: tuple[str, str]) -> _Exp:
    return _Exp(_unary(name, *accurate), _unary(name, *approximate))


exp_tile_init = _init("exp_tile_init")
exp_tile = _approximable("exp", ("exp", "accurate"), ("exp", "approx_clampneg"))
recip_tile_init = _init("recip_tile_init")
recip_tile = _approximable("recip", ("recip", "accurate"), ("recip", "approx"))
sqrt_tile_init = _init("sqrt_tile_init")
sqrt_tile = _approximable("sqrt", ("sqrt", "accurate"), ("sqrt", "fast"))
rsqrt_tile_init = _init("rsqrt_tile_init")
rsqrt_tile = _approximable("rsqrt", ("rsqrt", "default"), ("rsqrt", "fast"))
sigmoid_tile_init = _init("sigmoid_tile_init")
sigmoid_tile = _approximable("sigmoid", ("sigmoid", "accurate"), ("sigmoid", "approx"))
tanh_tile_init = _init("tanh_tile_init")
tanh_tile = _approximable("tanh", ("tanh", "accurate"), ("tanh", "approx_lut"))
gelu_tile_init = _init("gelu_tile_init")
gelu_tile = _approximable("gelu", ("gelu", "accurate"), ("gelu", "approx_lut"))
log_tile_init = _init("log_tile_init")
log_tile = _approximable("log", ("log", "accurate"), ("log", "fast"))
relu_tile_init = _init("relu_tile_init")
relu_tile = _unary("relu", "relu", "relu")
abs_tile_init = _init("abs_tile_init")
abs_tile = _unary("abs", "abs")
square_tile_init = _init("square_tile_init")
square_tile = _unary("square", "square")
negative_tile_init = _init("negative_tile_init")
negative_tile = _unary("negative", "neg")
silu_tile_init = _init("silu_tile_init")
silu_tile = _unary("silu", "silu", "accurate")

binop_with_scalar_tile_init = _init("binop_with_scalar_tile_init")
add_unary_tile = _unary("add_unary", "add_unary", parameters=1, init="binop_with_scalar_tile_init")
sub_unary_tile = _unary("sub_unary", "sub_unary", parameters=1, init="binop_with_scalar_tile_init")
mul_unary_tile = _unary("mul_unary", "mul_unary", parameters=1, init="binop_with_scalar_tile_init")
div_unary_tile = _unary("div_unary", "div_unary", parameters=1, init="binop_with_scalar_tile_init")
rsub_unary_tile = _unary("rsub_unary", "rsub", parameters=1, init="binop_with_scalar_tile_init")

add_binary_tile_init = _init("add_binary_tile_init")
add_binary_tile = _binary("add_binary", "add_binary")
sub_binary_tile_init = _init("sub_binary_tile_init")
sub_binary_tile = _binary("sub_binary", "sub_binary")
mul_binary_tile_init = _init("mul_binary_tile_init")
mul_binary_tile = _binary("mul_binary", "mul_binary")
div_binary_tile_init = _init("div_binary_tile_init")
div_binary_tile = _binary("div_binary", "div_binary")
