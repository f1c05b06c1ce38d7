"""One FPU run, for programs with blocks independent of the operands.

Those of `matmul` depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, MathFidelity
from ttnn.ops._programs.pipeline import Pipeline
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor


def tiles_of(extent: int) -> int:
    """Return how many tiles an extent in elements covers."""
    return -(-extent // TILE_SIZE)


@dataclass(frozen=True)
class Numerics:
    """Matmul numerics that a compute kernel configuration selects."""

    fidelity: int
    dst32: bool
    l1_acc: bool = False

    @classmethod
    def of(cls, config: WormholeComputeKernelConfig | None, default: MathFidelity, *, dst32: bool = False) -> Numerics:
        """Return those of a configuration; without one, those of the defaults.

        Args:
            config: The caller's configuration. An invalid fidelity in it leaves the default.
            default: Fidelity of the operator.
            dst32: Whether Dst has 32 bits by default.
        """
        if config is None:
            return cls(FIDELITY_NUMBER[default], dst32)
        chosen = default if config.math_fidelity is MathFidelity.Invalid else config.math_fidelity
        return cls(FIDELITY_NUMBER[chosen], config.fp32_dest_acc_en, config.packer_l1_acc)


def multiply(
    a: Tensor,
    b: Tensor,
    output: Tensor,
    *,
    batch: tuple[int, int, int],
    tiles: tuple[int, int, int],
    numerics: Numerics,
    block: int | None = None,
    k: int | None = None,
    bias: Tensor | None = None,
    activation: Sequence[Any] = (),
    transpose_b: bool = False,
) -> None:
    """Write the product of tiled tensors.

    Args:
        a: Left operand.
        b: Right operand.
        output: Tensor for the result.
        batch: Matrices of the output, the left and the right operand; one that has 1 serves all.
        tiles: Tiles of a matrix along M, K and N.
        numerics: Fidelity, width of Dst, and whether the packer adds partial sums in L1.
        block: Tiles along K that Dst sums before it is packed. Default: all.
        k: Elements along K that count. Default: all of the tiles.
        bias: A row that is added at the end.
        activation: SFPU functions of the result in Dst.
        transpose_b: Whether the right operand is stored as N x K.
    """
    assert a.buffer is not None
    assert b.buffer is not None
    assert output.buffer is not None
    assert output._device is not None
    rows, inner, columns = tiles
    run = engine_steps.matmul_fast if CONFIG.numerics == "fast" else engine_steps.matmul
    run(
        a.buffer,
        b.buffer,
        None if bias is None else bias.buffer,
        output.buffer,
        formats=(
            FORMAT_CODE[a.spec.dtype],
            FORMAT_CODE[b.spec.dtype],
            0 if bias is None else FORMAT_CODE[bias.spec.dtype],
            FORMAT_CODE[output.spec.dtype],
        ),
        batch=batch,
        mt=rows,
        kt=inner,
        nt=columns,
        k=inner * TILE_SIZE if k is None else k,
        kb=inner if block is None else block,
        ring=None,
        fidelity=numerics.fidelity,
        dst32=numerics.dst32,
        l1_acc=numerics.l1_acc,
        relu=False,
        activation=activation,
        transpose_a=False,
        transpose_b=transpose_b,
    )


def copy_through_source(source: Tensor, output: Tensor, numerics: Numerics) -> None:
    """Copy tiles through SrcA and Dst into any data type.

    FP32 becomes TF32 or bfloat16.
    """
    spec = source.spec
    program = Pipeline(
        domain=tuple(spec.shape),
        axis=-1,
        dtype=spec.dtype,
        dst32=numerics.dst32,
        fidelity=numerics.fidelity,
    )
    program.copy(program.tensor(spec.dtype), output.spec.dtype, output=0)
    program.run([source], [output])
