"""Construction of SFPU functions; `sfpu`, `sfpu_binary` and others list them.

`X_tile_init()` sets the unit up, `X_tile(idst, ...)` changes a tile in place, `X_binary_tile(idst0, idst1, odst)` joins
two. Parameters are raw words, as in C++: the bits of a float32, or an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.compute import VectorMode
from ttnn.kernel_api.context import here

HOME = "ttnn.kernel_api"
"""Module that the functions made here belong to, whichever lists them."""
_KEEPS = -1
"""The function leaves the format of the tile as it is."""


_MODES = {0: 0, 4: 0, 1: 1, 2: 2}
ON_PACK = 4
"""Added to a mode: the function runs on the packer's thread."""


def _face_mode(mode: int) -> int:
    if mode not in _MODES:
        raise KernelArgumentError(f"vector_mode={mode}: use VectorMode.RC, R or C")
    return _MODES[mode]


class _Function:
    """A tile function, made an engine call once per parameters."""

    thread = 0
    """0, or `ON_PACK`."""

    def __init__(
        self, name: str, init: str, function: tuple[str, str], tiles: int, parameters: int, makes: int = _KEEPS
    ) -> None:
        self._names = (name, init)
        self.init_name = init
        self._function = function
        self._tiles = tiles
        self._count = parameters
        self._makes = makes
        self._calls: dict[tuple[int, ...], _engine.VectorCall] = {}
        self.__name__ = name
        self.__module__ = HOME

    def init(self) -> Callable[..., None]:
        """Return the init call of the function."""
        return init(self.init_name, self.thread)

    def call(self, parameters: tuple[int, ...]) -> _engine.VectorCall:
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
        """Change `Dst[idst]`.

        The vector mode may also follow the parameters, as in C++.
        """
        call = self._calls.get(parameters)
        if call is None:
            if len(parameters) == self._count + 1:
                *words, vector_mode = parameters
                parameters = tuple(words)
            call = self.call(parameters)
        mode = vector_mode.value if isinstance(vector_mode, VectorMode) else vector_mode
        here.run.vector(call, idst, idst, idst, idst, _face_mode(mode) + self.thread)


class InitParameters(Unary):
    """A unary tile function with parameters in its init.

    Older headers pass them to the function.
    """

    def init(self) -> Callable[..., None]:
        """Return the init call of the function."""
        call = setup_call(self.init_name)

        def set_up(*parameters: int) -> None:
            here.run.vector_init(call, self.thread)
            if parameters:
                first, second = parameters
                here.kernel.states[self.init_name, 0] = (first, second)

        return named(set_up, self.init_name, "Set up the SFPU with these words.")

    def __call__(self, idst: int, *parameters: int, vector_mode: VectorMode | int = 4) -> None:
        """Change `Dst[idst]`.

        Raises:
            KernelArgumentError: neither the init call nor this one has parameters.
        """
        words = parameters or here.kernel.states.get((self.init_name, 0))
        if words is None:
            raise KernelArgumentError(f"{self.__name__}: pass its parameters to {self.init_name}")
        super().__call__(idst, *words, vector_mode=vector_mode)


class Packed(Unary):
    """A unary tile function on the packer's thread.

    Between `tile_regs_wait` and `tile_regs_release`.
    """

    thread = ON_PACK


class Tiles(_Function):
    """A function of the Dst indices of its tiles, then its parameters."""

    def call(self, parameters: tuple[int, ...]) -> _engine.VectorCall:
        """Return the call with these parameters; the engine checks their number."""
        self._count = len(parameters)
        return super().call(parameters)

    def __call__(self, *tiles: int, parameters: tuple[int, ...] = ()) -> None:
        """Change tiles of Dst."""
        call = self._calls.get(parameters) or self.call(parameters)
        here.run.vector_tiles(call, list(tiles))


class Binary(_Function):
    """A function of two tiles."""

    def __call__(self, idst0: int, idst1: int, odst: int, *parameters: int) -> None:
        """`Dst[odst]` = function of `Dst[idst0]` and `Dst[idst1]`."""
        call = self._calls.get(parameters) or self.call(parameters)
        here.run.vector(call, idst0, idst1, idst0, odst, 0)


class FacedBinary(Binary):
    """A function of two tiles that may change some faces only."""

    def __call__(
        self, idst0: int, idst1: int, odst: int, *parameters: VectorMode | int, vector_mode: VectorMode | int = 4
    ) -> None:
        """`Dst[odst]` = function of two Dst tiles, in these faces.

        The other faces keep what they hold.

        The vector mode may also follow the tiles, as in C++.
        """
        if len(parameters) > 1:
            raise KernelArgumentError(f"{self.__name__}: three tiles and a vector mode expected, got {parameters}")
        call = self._calls.get(()) or self.call(())
        mode = parameters[0] if parameters else vector_mode
        mode = mode.value if isinstance(mode, VectorMode) else mode
        here.run.vector(call, idst0, idst1, idst0, odst, _face_mode(mode))


class Ternary(_Function):
    """A function of three tiles."""

    def __call__(self, idst0: int, idst1: int, idst2: int, odst: int, *parameters: int) -> None:
        """`Dst[odst]` = function of three tiles of Dst."""
        call = self._calls.get(parameters) or self.call(parameters)
        here.run.vector(call, idst0, idst1, idst2, odst, 0)


def named(set_up: Callable[..., None], name: str, doc: str) -> Callable[..., None]:
    """Return an init call under its name in the kernel API."""
    set_up.__name__ = set_up.__qualname__ = name
    set_up.__module__ = HOME
    set_up.__doc__ = doc
    return set_up


def init(name: str, mode: int = 0) -> Callable[..., None]:
    """Return the init call of this name.

    With the mode `ON_PACK` it sets the SFPU up from the packer's thread.
    """
    call = setup_call(name)

    def set_up(*_: Any, **__: Any) -> None:
        here.run.vector_init(call, mode)

    return named(set_up, name, "Set up the SFPU.")


def setup_call(title: str) -> _engine.VectorCall:
    """Return the SFPU setup of functions whose init has this title."""
    return _engine.VectorCall((title, title), ("identity", "default"), 1, [], _KEEPS)


def keeping_init(name: str, function: str) -> Callable[..., None]:
    """Return the init call that keeps arguments in lane registers.

    As in `tile/function`.
    """

    def set_up(*parameters: int) -> None:
        words = [word & 0xFFFF_FFFF for word in parameters]
        here.run.vector_init(_engine.VectorCall((name, name), kept, 0, words, _KEEPS), 0)

    kept = ("tile", function)
    setattr(set_up, "keeps", kept)  # noqa: B010  (functions have no such attribute for the type checker)
    return named(set_up, name, "Set up the SFPU with these words.")


def tiles(name: str, function: str, count: int, init: str = "", makes: int = _KEEPS) -> Tiles:
    """Return the function `name` of `count` tiles: `tile/function` of the engine."""
    return Tiles(name, init or f"{name}_init", ("tile", function), count, 0, makes)


def packed(name: str, function: str, variant: str = "default", parameters: int = 0) -> Packed:
    """Return the function `name` on the packer's thread."""
    return Packed(name, name.replace("_pack", "_init_pack"), (function, variant), 1, parameters)


def unary(name: str, function: str = "", variant: str = "default", parameters: int = 0, init: str = "") -> Unary:
    """Return the function `name`: `function/variant` of the listings.

    By default `X_tile` is `X`.
    """
    return Unary(name, init or f"{name}_init", (function or name.removesuffix("_tile"), variant), 1, parameters)


def binary(name: str, function: str = "", variant: str = "default", init: str = "", makes: int = _KEEPS) -> Binary:
    """Return the function `name` of two tiles."""
    return Binary(name, init or f"{name}_init", (function or name.removesuffix("_tile"), variant), 2, 0, makes)


def faced_binary(name: str) -> FacedBinary:
    """Return the binary `X_tile` with vector mode: `X` of the listings."""
    return FacedBinary(name, f"{name}_init", (name.removesuffix("_tile"), "default"), 2, 0)


def ternary(name: str, parameters: int = 0) -> Ternary:
    """Return the ternary `X_tile`: `X` of the listings."""
    return Ternary(name, f"{name}_init", (name.removesuffix("_tile"), "default"), 3, parameters)


_APPROXIMATE = "(approx=True)"
"""Suffix of an approximate function's init."""


class Approximable:
    """A function with keyword `approx`, here and in its init.

    Also: `fast_and_approx`.

    Without the keyword it is the variant that the C++ header has as the default; a default of None is that of the
    kernel's `math_approx_mode`.
    """

    def __init__(self, accurate: Unary, approximate: Unary, *, approximate_by_default: bool | None = False) -> None:
        self._variants = (accurate, approximate)
        self._default = approximate_by_default
        self.__module__ = HOME

    def __call__(
        self,
        idst: int,
        vector_mode: VectorMode | int = 4,
        *,
        approx: bool | None = None,
        fast_and_approx: bool | None = None,
    ) -> None:
        """Change `Dst[idst]`."""
        self._variants[self._chosen(approx, fast_and_approx)](idst, vector_mode=vector_mode)

    def _chosen(self, approx: bool | None, fast_and_approx: bool | None) -> bool:
        if approx is None and fast_and_approx is None:
            return here.run.is_approximate if self._default is None else self._default
        return bool(approx or fast_and_approx)

    def init(self) -> Callable[..., None]:
        """Return the init call: each variant needs its own."""
        mode = self._variants[0].thread
        calls = [setup_call(function.init_name) for function in self._variants]

        def set_up(*, approx: bool | None = None, fast_and_approx: bool | None = None) -> None:
            here.run.vector_init(calls[self._chosen(approx, fast_and_approx)], mode)

        doc = "Set up the SFPU for the accurate or the approximate variant."
        return named(set_up, self._variants[0].init_name, doc)


def approximable(
    name: str,
    function: str,
    accurate: str,
    approximate: str,
    *,
    kind: type[Unary] = Unary,
    approximate_by_default: bool | None = False,
) -> Approximable:
    """Return the function `name` with both its variants."""
    init = name.replace("_tile", "_tile_init")
    titles = ((init, accurate), (init + _APPROXIMATE, approximate))
    variants = [kind(name, title, (function, variant), 1, 0) for title, variant in titles]
    return Approximable(*variants, approximate_by_default=approximate_by_default)


_T = TypeVar("_T", bound=_Function | Approximable)


def with_init(function: _T) -> tuple[Callable[..., None], _T]:
    """Return a function, after its init call."""
    return function.init(), function
