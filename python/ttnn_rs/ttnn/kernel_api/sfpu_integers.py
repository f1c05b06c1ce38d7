"""Integers in Dst: one line per function, under its C++ name.

Where 0.81.1 has a template argument for the data format there is a keyword `data_format`, the format's code or
`DataFormat`; the classic names end in the format. Tiles of 16 bits are in the low halves of the words of Dst.
"""

from __future__ import annotations

from collections.abc import Mapping

from ttnn.base.exceptions import KernelArgumentError, UnsupportedError
from ttnn.kernel_api.sfpu import (
    eqz_tile_init,
    logical_not_tile_init,
    nez_tile_init,
    relu_max_tile_init,
    relu_min_tile_init,
    signbit_tile_init,
    unary_max_tile_init,
    unary_min_tile_init,
)
from ttnn.kernel_api.sfpu_binary import (
    add_int32_tile,
    binary_left_shift_int32_tile,
    binary_logical_right_shift_int32_tile,
    binary_max_tile_init,
    binary_min_tile_init,
    binary_right_shift_int32_tile,
    binary_right_shift_uint32_tile,
    bitwise_and_binary_tile,
    bitwise_or_binary_tile,
    bitwise_xor_binary_tile,
    eq_int32_tile,
    eq_int32_tile_init,
    ge_int32_tile,
    ge_int32_tile_init,
    gt_int32_tile,
    gt_int32_tile_init,
    le_int32_tile,
    le_int32_tile_init,
    lt_int32_tile,
    lt_int32_tile_init,
    mul_int32_tile,
    mul_int32_tile_init,
    ne_int32_tile,
    ne_int32_tile_init,
    rsub_int32_tile,
    rsub_int_tile_init,
    sub_int32_tile,
)
from ttnn.kernel_api.sfpu_functions import HOME, Binary, Tiles, Unary, binary, init, tiles, unary, with_init

_INT32, _UINT16, _UINT32 = 8, 9, 24


class _ByFormat:
    """A function with the template argument `DataFormat`, a keyword here."""

    def __init__(self, name: str, functions: Mapping[int, Binary | Tiles]) -> None:
        self.__name__ = name
        self.__module__ = HOME
        self._functions = functions

    def __call__(self, idst0: int, idst1: int, odst: int, *, data_format: int = _INT32) -> None:
        """`Dst[odst]` = function of two tiles of this format.

        Raises:
            UnsupportedError: the SFPU has no such function for the format.
        """
        function = self._functions.get(int(data_format))
        if function is None:
            text = f"{self.__name__}: the SFPU does this for Int32, UInt32 and UInt16, not for format"
            raise UnsupportedError(f"{text} {int(data_format)}", "unsupported")
        function(idst0, idst1, odst)


class _OneTile:
    """A function of one tile and words that is made of `Tiles`."""

    def __init__(self, function: Tiles, count: int) -> None:
        self._function, self._count = function, count
        self.__name__ = function.__name__
        self.__module__ = HOME

    def __call__(self, idst: int, *parameters: int) -> None:
        """Change `Dst[idst]`."""
        if len(parameters) != self._count:
            text = f"{self.__name__}: {self._count} parameters expected, got {len(parameters)}"
            raise KernelArgumentError(text)
        self._function(idst, parameters=parameters)


def _one(name: str, function: str, init: str, parameters: int = 0) -> _OneTile:
    return _OneTile(tiles(name, function, 1, init), parameters)


def _two(name: str, function: str, init: str) -> Tiles:
    return tiles(name, function, 3, init)


# Sums, differences, products. Signed and unsigned words have the same ones.
add_uint32_tile = binary("add_uint32_tile", "add_int", "int32", init="add_int_tile_init")
add_uint16_tile = _two("add_uint16_tile", "add_uint16", "add_int_tile_init")
add_int_tile = _ByFormat("add_int_tile", {_INT32: add_int32_tile, _UINT32: add_uint32_tile, _UINT16: add_uint16_tile})
sub_uint32_tile = binary("sub_uint32_tile", "sub_int", "int32", init="sub_int_tile_init")
sub_uint16_tile = _two("sub_uint16_tile", "sub_uint16", "sub_int_tile_init")
sub_int_tile = _ByFormat("sub_int_tile", {_INT32: sub_int32_tile, _UINT32: sub_uint32_tile, _UINT16: sub_uint16_tile})
rsub_int32_tile_init = rsub_int_tile_init
rsub_int_tile = _ByFormat(
    "rsub_int_tile",
    {
        _INT32: rsub_int32_tile,
        _UINT32: rsub_int32_tile,
        _UINT16: _two("rsub_int_tile", "rsub_uint16", "rsub_int_tile_init"),
    },
)
mul_int_tile_init = mul_int32_tile_init
mul_uint32_tile = binary("mul_uint32_tile", "mul_int", "int32", init="mul_int32_tile_init")
mul_uint16_tile = _two("mul_uint16_tile", "mul_uint16", "mul_int32_tile_init")
mul_int_tile = _ByFormat("mul_int_tile", {_INT32: mul_int32_tile, _UINT32: mul_uint32_tile, _UINT16: mul_uint16_tile})

# Bits.
bitwise_and_uint32_binary_tile = bitwise_and_binary_tile
bitwise_or_uint32_binary_tile = bitwise_or_binary_tile
bitwise_xor_uint32_binary_tile = bitwise_xor_binary_tile
bitwise_and_uint16_binary_tile = _two("bitwise_and_uint16_binary_tile", "and_uint16", "binary_bitwise_tile_init")
bitwise_or_uint16_binary_tile = _two("bitwise_or_uint16_binary_tile", "or_uint16", "binary_bitwise_tile_init")
bitwise_xor_uint16_binary_tile = _two("bitwise_xor_uint16_binary_tile", "xor_uint16", "binary_bitwise_tile_init")

# Shifts.
binary_left_shift_uint32_tile = binary_left_shift_int32_tile
binary_logical_right_shift_uint32_tile = binary_logical_right_shift_int32_tile
binary_left_shift_tile = _ByFormat(
    "binary_left_shift_tile", {_INT32: binary_left_shift_int32_tile, _UINT32: binary_left_shift_int32_tile}
)
binary_right_shift_tile = _ByFormat(
    "binary_right_shift_tile", {_INT32: binary_right_shift_int32_tile, _UINT32: binary_right_shift_uint32_tile}
)
binary_logical_right_shift_tile = _ByFormat(
    "binary_logical_right_shift_tile",
    {_INT32: binary_logical_right_shift_int32_tile, _UINT32: binary_logical_right_shift_int32_tile},
)


# Comparisons.
def _comparison(verb: str, int32: Binary) -> _ByFormat:
    name, setup = f"{verb}_int_tile", f"{verb}_int32_tile_init"
    uint32 = binary(name, f"{verb}_int", "uint32", init=setup)
    return _ByFormat(name, {_INT32: int32, _UINT32: uint32, _UINT16: _two(name, f"{verb}_uint16", setup)})


eq_int_tile_init = eq_int32_tile_init
eq_int_tile = _comparison("eq", eq_int32_tile)
ne_int_tile_init = ne_int32_tile_init
ne_int_tile = _comparison("ne", ne_int32_tile)
lt_int_tile_init = lt_int32_tile_init
lt_int_tile = _comparison("lt", lt_int32_tile)
gt_int_tile_init = gt_int32_tile_init
gt_int_tile = _comparison("gt", gt_int32_tile)
le_int_tile_init = le_int32_tile_init
le_int_tile = _comparison("le", le_int32_tile)
ge_int_tile_init = ge_int32_tile_init
ge_int_tile = _comparison("ge", ge_int32_tile)
eqz_tile_uint16 = _one("eqz_tile_uint16", "eqz_uint16", eqz_tile_init.__name__)
eqz_tile_uint32 = _one("eqz_tile_uint32", "eqz_uint32", eqz_tile_init.__name__)
nez_tile_uint16 = _one("nez_tile_uint16", "nez_uint16", nez_tile_init.__name__)
nez_tile_uint32 = _one("nez_tile_uint32", "nez_uint32", nez_tile_init.__name__)
logical_not_unary_tile_int32 = unary(
    "logical_not_unary_tile_int32", "eqz_int32", "int32", init=logical_not_tile_init.__name__
)
logical_not_unary_tile_uint32 = _one("logical_not_unary_tile_uint32", "eqz_uint32", logical_not_tile_init.__name__)
logical_not_unary_tile_uint16 = _one("logical_not_unary_tile_uint16", "eqz_uint16", logical_not_tile_init.__name__)
signbit_tile_int32_init = signbit_tile_init
signbit_tile_int32 = _one("signbit_tile_int32", "signbit_int32", signbit_tile_init.__name__)

# Larger and smaller.
binary_max_int32_tile_init = binary_max_uint32_tile_init = binary_max_tile_init
binary_min_int32_tile_init = binary_min_uint32_tile_init = binary_min_tile_init
binary_max_uint32_tile = binary(
    "binary_max_uint32_tile", "binary_max_int32", "uint32", init=binary_max_tile_init.__name__
)
binary_min_uint32_tile = binary(
    "binary_min_uint32_tile", "binary_min_int32", "uint32", init=binary_min_tile_init.__name__
)
unary_max_int32_tile_init = unary_max_uint32_tile_init = unary_max_tile_init
unary_min_int32_tile_init = unary_min_uint32_tile_init = unary_min_tile_init
unary_max_int32_tile = _one("unary_max_int32_tile", "max_int32", unary_max_tile_init.__name__, 1)
unary_min_int32_tile = _one("unary_min_int32_tile", "min_int32", unary_min_tile_init.__name__, 1)
unary_max_uint32_tile = _one("unary_max_uint32_tile", "max_uint32", unary_max_tile_init.__name__, 1)
unary_min_uint32_tile = _one("unary_min_uint32_tile", "min_uint32", unary_min_tile_init.__name__, 1)
relu_max_tile_int32 = unary(
    "relu_max_tile_int32", "relu_max_int32", "int32", parameters=1, init=relu_max_tile_init.__name__
)
relu_max_tile_uint32 = unary(
    "relu_max_tile_uint32", "relu_max_int32", "uint32", parameters=1, init=relu_max_tile_init.__name__
)
relu_max_tile_uint16 = _one("relu_max_tile_uint16", "min_uint16", relu_max_tile_init.__name__, 1)
relu_min_tile_int32 = _one("relu_min_tile_int32", "max_int32", relu_min_tile_init.__name__, 1)
relu_min_tile_uint32 = _one("relu_min_tile_uint32", "max_uint32", relu_min_tile_init.__name__, 1)
relu_min_tile_uint16 = _one("relu_min_tile_uint16", "max_uint16", relu_min_tile_init.__name__, 1)

# A word on the right.
add_unary_tile_int32 = _one("add_unary_tile_int32", "add_int32", "binop_with_scalar_tile_init", 1)
sub_unary_tile_int32 = _one("sub_unary_tile_int32", "sub_int32", "binop_with_scalar_tile_init", 1)
rsub_unary_int32_tile_init = init("rsub_unary_int32_tile_init")
rsub_unary_int32_tile = _one("rsub_unary_int32_tile", "rsub_int32", "rsub_unary_int32_tile_init", 1)
identity_tile_uint32 = _one("identity_tile_uint32", "same", "identity_tile_init")
_fills: dict[int, Unary] = {}


def fill_tile_int(idst: int, param0: int, *, data_format: int = _INT32) -> None:
    """Set every datum of `Dst[idst]` to an integer of this format.

    Raises:
        UnsupportedError: not Int32, UInt32 or UInt16.
    """
    code = int(data_format)
    if code not in (_INT32, _UINT32, _UINT16):
        raise UnsupportedError(f"fill_tile_int: format {code} is not an integer format of Dst", "unsupported")
    fill = _fills.get(code)
    if fill is None:
        makes = _UINT16 if code == _UINT16 else _INT32
        fill = _fills[code] = Unary("fill_tile_int", "fill_tile_init", ("fill", "default"), 1, 1, makes)
    fill(idst, param0)


# Divisions.
fmod_int32_tile_init, fmod_int32_tile = with_init(binary("fmod_int32_tile", variant="int32"))
remainder_int32_tile_init, remainder_int32_tile = with_init(binary("remainder_int32_tile", variant="int32"))
remainder_uint32_tile_init, remainder_uint32_tile = with_init(
    binary("remainder_uint32_tile", "remainder_int32", "uint32")
)
remainder_tile_uint32_init = init("remainder_tile_uint32_init")
_remainder = _one("remainder_tile_uint32", "remainder_uint32", "remainder_tile_uint32_init", 1)


def remainder_tile_uint32(idst: int, param0: int) -> None:
    """`Dst[idst]` = the remainder of unsigned words divided by `param0`.

    Raises:
        KernelArgumentError: `param0` is 0.
    """
    if param0 == 0:
        raise KernelArgumentError("remainder_tile_uint32: division by 0")
    _remainder(idst, param0)
