"""SFPU functions with template arguments: exponential, division, logarithm, closeness.

They are keywords here.
"""

from __future__ import annotations

from collections.abc import Callable

from ttnn.base.exceptions import UnsupportedError
from ttnn.base.vendor_enum import VendorEnum
from ttnn.kernel_api.compute import VectorMode
from ttnn.kernel_api.context import here
from ttnn.kernel_api.sfpu_functions import (
    HOME,
    ON_PACK,
    Binary,
    Packed,
    Unary,
    init,
    named,
    setup_call,
    unary,
)


class InputClamping(VendorEnum):
    """Clamping of exponential inputs below -88.5.

    Without it they return negative results.
    """

    NONE = 0
    ClampToNegative = 1


class RoundingMode(VendorEnum):
    """The rounding of a quotient to an integer."""

    NONE = 0
    Trunc = 1
    Floor = 2


_ONE = 0x3F80
"""1.0 in bfloat16, the scale that changes nothing."""
_VARIANTS = {
    (False, InputClamping.ClampToNegative): "accurate",
    (False, InputClamping.NONE): "accurate_noclampneg",
    (True, InputClamping.ClampToNegative): "approx_clampneg",
    (True, InputClamping.NONE): "approx_noclamp",
}


def _setup(name: str, approx: bool, clamping: InputClamping) -> str:
    """Return what the init of a variant is called in messages."""
    said = [*(["approx=True"] if approx else []), *(["input_clamping=NONE"] if clamping is InputClamping.NONE else [])]
    return f"{name}({', '.join(said)})" if said else name


class _Exponential:
    """`exp_tile`, on math's thread or on the packer's."""

    def __init__(self, name: str, kind: type[Unary]) -> None:
        self.__name__ = name
        self.__module__ = HOME
        self._functions = {
            key: kind(name, _setup(f"{name}_init", *key), ("exp", variant), 1, 0) for key, variant in _VARIANTS.items()
        }

    def __call__(
        self,
        idst: int,
        vector_mode: VectorMode | int = 4,
        scale: int = _ONE,
        *,
        approx: bool = False,
        scale_en: bool = False,
        input_clamping: InputClamping = InputClamping.ClampToNegative,
    ) -> None:
        """`Dst[idst]` = its exponential. Approximation and clamping must be those of the init.

        Raises:
            UnsupportedError: a scale, whose place among the roundings is not specified.
        """
        if scale_en and scale != _ONE:
            text = f"{self.__name__}: scale={scale:#x}; where it is rounded is not specified, multiply the tile first"
            raise UnsupportedError(text, "unsupported")
        self._functions[approx, input_clamping](idst, vector_mode=vector_mode)


def _exponential_init(name: str, mode: int) -> Callable[..., None]:
    calls = {key: setup_call(_setup(name, *key)) for key in _VARIANTS}

    def set_up(
        *,
        approx: bool = False,
        scale: int = 0x3F80_0000,
        input_clamping: InputClamping = InputClamping.ClampToNegative,
    ) -> None:
        if scale != 0x3F80_0000:
            text = f"{name}: scale={scale:#x}; where it is rounded is not specified, multiply the tile first"
            raise UnsupportedError(text, "unsupported")
        here.run.vector_init(calls[approx, input_clamping], mode)

    return named(set_up, name, "Set up the SFPU for one variant of the exponential.")


exp_tile_init = _exponential_init("exp_tile_init", 0)
exp_tile = _Exponential("exp_tile", Unary)
exp_packthread_tile_init = _exponential_init("exp_packthread_tile_init", ON_PACK)
exp_packthread_tile = _Exponential("exp_packthread_tile", Packed)

rdiv_tile_init = init("rdiv_tile_init")
_DIVISIONS = {
    RoundingMode.NONE: unary("rdiv_tile", "rdiv", parameters=1),
    RoundingMode.Trunc: unary("rdiv_tile", "rdiv", "trunc", parameters=1),
    RoundingMode.Floor: unary("rdiv_tile", "rdiv", "floor", parameters=1),
}


def rdiv_tile(
    dst_index: int, value: int, vector_mode: VectorMode | int = 4, *, rounding_mode: RoundingMode = RoundingMode.NONE
) -> None:
    """`Dst[dst_index]` = quotient of float32 bits `value`, rounded in integer modes.

    `value` is divided by it.
    """
    _DIVISIONS[rounding_mode](dst_index, value, vector_mode=vector_mode)


log_with_base_tile_init = init("log_with_base_tile_init")
_LOGARITHMS = {
    (scale, approx): unary("log_with_base_tile", name, "fast" if approx else "accurate")
    for scale, name in ((0x3FB8_AA3B, "log2"), (0x3EDE_5BD9, "log10"))
    for approx in (False, True)
}


def log_with_base_tile(idst: int, base_scale: int, *, fast_and_approx: bool = False) -> None:
    """`Dst[idst]` = logarithm; `base_scale` is the bits of 1 / ln(base) as float32.

    Raises:
        UnsupportedError: neither base 2 nor base 10, whose steps alone are known.
    """
    function = _LOGARITHMS.get((base_scale, fast_and_approx))
    if function is None:
        text = f"log_with_base_tile: base_scale={base_scale:#x}; only 1/ln(2) and 1/ln(10) have known bits"
        raise UnsupportedError(text, "unsupported")
    function(idst)


isclose_binary_tile_init = init("isclose_binary_tile_init")
_CLOSE = {
    equal_nan: Binary("isclose_binary_tile", "isclose_binary_tile_init", ("isclose", variant), 2, 2)
    for equal_nan, variant in ((False, "default"), (True, "equal_nan"))
}


def isclose_binary_tile(
    idst0: int, idst1: int, odst: int, rtol_bits: int, atol_bits: int, *, equal_nan: bool = False
) -> None:
    """`Dst[odst]` = 1 where |a - b| <= atol + rtol * |b|, else 0.

    Tolerances are bits of float32.
    """
    _CLOSE[equal_nan](idst0, idst1, odst, rtol_bits, atol_bits)
