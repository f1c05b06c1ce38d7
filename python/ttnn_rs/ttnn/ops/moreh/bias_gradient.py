"""The gradient of a bias: the sum over all gradient rows.

It is added tile after tile.

The kernel packs its partial sum after every tile. bfloat16 and, with a 32-bit Dst, float32 unpacked to Dst past SrcA
are reloaded unchanged, so one Dst holds the same sum.
Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_linear_backward`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.ops._programs.common import allocate, count_program, on_device
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops._programs.pipeline import COLUMNS, Pipeline, bits, matrices
from ttnn.ops.moreh.reductions import Settings, settings_of
from ttnn.tensor.tensor import Tensor

_BF16: Final = DataType.BFLOAT16


@lru_cache(maxsize=64)
def _without_padding(shape: tuple[int, ...], axis: int, settings: Settings) -> Pipeline:
    """Return the program that clears padding at the line ends."""
    fidelity, dst32 = settings
    program = Pipeline(shape, axis, _BF16, dst32, fidelity)
    program.copy(program.tensor(_BF16), _BF16, padding="zero", output=0)
    return program


@lru_cache(maxsize=64)
def _sum(shape: tuple[int, ...], axis: int, settings: Settings) -> Pipeline:
    fidelity, dst32 = settings
    program = Pipeline(shape, axis, _BF16, dst32, fidelity)
    program.sum(program.tensor(_BF16), (_BF16, bits(1.0)), _BF16, output=(0, 0, 1))
    return program


def add_up(name: str, output_grad: Tensor, target: Tensor, compute: WormholeComputeKernelConfig | None) -> None:
    """Write the gradient of a bias [1, N] or [1, 1].

    Raises:
        ShapeError: the gradient of the bias has another shape.
        UnsupportedError: one element with a 32-bit Dst: its partial sums lose bits on their way through SrcA.
    """
    device, spec = on_device(name, output_grad, "output_grad"), output_grad.spec
    shape, wanted = tuple(spec.shape), tuple(target.spec.shape)
    one = all(size == 1 for size in wanted)
    if not one and (any(size != 1 for size in wanted[:-1]) or wanted[-1:] != shape[-1:]):
        raise ShapeError(
            f"{name}: bias_grad has shape {list(wanted)}; it must be [1, {shape[-1]}] or [1, 1].",
            vendor="bias_grad tensor should be 1d or scalar",
        )
    settings = settings_of(compute)
    if one and settings[1]:
        raise UnsupportedError(
            f"{name}: the gradient of a bias of one element with fp32_dest_acc_en=True is not implemented.",
            "unimplemented",
        )
    count_program(device, "moreh_bias_add_backward", spec, target.spec, compute)
    source, rows = output_grad, tuple(spec.padded_shape)
    for axis, size in ((COLUMNS, shape[-2]), (-1, shape[-1])):
        # The width of a row of sums stays padding.
        if size % TILE_SIZE and (one or axis == COLUMNS):
            cleared = allocate(spec.with_memory_config(DRAM_MEMORY_CONFIG), device)
            _without_padding(shape, axis, settings).run([source], [cleared])
            source = cleared
    height = 1
    for size in rows[:-1]:
        height *= size
    axis = matrices(0) if one else COLUMNS
    domain = (1, height, rows[-1]) if one else (height, rows[-1])
    result = allocate(TensorSpec.of(wanted, _BF16, Layout.TILE, DRAM_MEMORY_CONFIG), device)
    _sum(domain, axis, settings).run([source], [result])
    copy_into(result, target)
