"""Parameters of `ttnn.matmul`, `ttnn.linear` and the operators based on them.

Source: TT-NN docs "ttnn.matmul" and "ttnn.linear".
"""

from __future__ import annotations

from typing import Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreGrid
from ttnn.base.enums import UnaryOpType
from ttnn.operation.signature import (
    BOOLEAN,
    COMPUTE_KERNEL_CONFIG,
    DATA_TYPE,
    INTEGER,
    MEMORY_CONFIG,
    TENSOR,
    TILE,
    Kind,
    Param,
    instance_kind,
)
from ttnn.ops._programs.common import SUB_DEVICE_OPTION

from .configs import AnyProgramConfig

_PROGRAM_CONFIG: Final = Kind(
    "ttnn::operations::matmul::MatmulMultiCoreProgramConfig | ttnn.MatmulMultiCoreReuseProgramConfig | "
    "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig | ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig | "
    "ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig | "
    "ttnn.MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
    lambda value: isinstance(value, AnyProgramConfig),
    "AnyProgramConfig",
)
_ACTIVATION: Final = instance_kind(
    "str | ttnn.UnaryWithParam", str, UnaryWithParam, UnaryOpType, spelled="str | UnaryWithParam | UnaryOpType"
)
_ANYTHING: Final = Kind(
    "Sequence[ttnn.PrefetcherPipe]", lambda value: isinstance(value, list | tuple), "Sequence[object]"
)

OPERANDS: Final = (
    Param("input_tensor_a", TENSOR, doc="[..., M, K] on a device, in TILE_LAYOUT."),
    Param(
        "input_tensor_b",
        TENSOR,
        doc="[..., K, N]. A single matrix is multiplied with every matrix of `input_tensor_a`.",
    ),
)
BIAS: Final = Param(
    "bias",
    TENSOR,
    None,
    doc="[N], [1, N] or [M, N], M up to 32. It is fused, except with a batched `input_tensor_b`, with a Reuse program, "
    "or, without `program_config` and `core_grid`, for most tensors in L1. A Reuse program of one block per "
    "matrix fuses [M, N] of any M. Otherwise, and for other shapes, it is added by `ttnn.add`.",
)
OPTIONS: Final = (
    Param("transpose_a", BOOLEAN, False, doc="Whether `input_tensor_a` is [..., K, M]."),
    Param("transpose_b", BOOLEAN, False, doc="Whether `input_tensor_b` is [..., N, K]."),
    Param(
        "memory_config",
        MEMORY_CONFIG,
        None,
        doc="Memory configuration of the output. The program chooses the shards of a sharded output. Default: "
        "interleaved DRAM.",
    ),
    Param("dtype", DATA_TYPE, None, doc="Data type of the output. Default: that of `input_tensor_a`."),
    Param(
        "program_config",
        _PROGRAM_CONFIG,
        None,
        doc="Program configuration: blocking of the product. "
        "It changes the bits of the result. Default: "
        "chosen by shape.",
    ),
    Param(
        "activation",
        _ACTIVATION,
        None,
        doc="Activation. It is fused with `core_grid`, and then precedes a bias that is not fused. Otherwise it runs "
        "last.",
    ),
    Param(
        "compute_kernel_config",
        COMPUTE_KERNEL_CONFIG,
        None,
        doc="Math fidelity, Dst width and packer accumulation. Default: HiFi3 (HiFi4 on Blackhole) for two float32 "
        "tensors; LoFi with `program_config` or `core_grid`, or for two block floats; else HiFi2. A float32 "
        "output uses a 32-bit Dst, others are accumulated in L1.",
    ),
    Param(
        "core_grid",
        instance_kind("ttnn.CoreGrid", CoreGrid),
        None,
        doc="Grid of cores, at most the device's. It selects fidelity and blocking, and so changes the bits of the "
        "result.",
    ),
    Param(
        "output_tile",
        TILE,
        None,
        doc="Tile of the output. Default: as high as those of `input_tensor_a`, as wide as those of `input_tensor_b`.",
    ),
    Param("optional_output_tensor", TENSOR, None, doc="Preallocated output."),
    Param(
        "global_cb",
        Kind("ttnn._ttnn.global_circular_buffer.global_circular_buffer", lambda value: value is not None, "object"),
        None,
        modelled=False,
    ),
    SUB_DEVICE_OPTION,
    Param("prefetcher_pipes", _ANYTHING, [], modelled=False),
)
_PLAIN: Final = (
    "memory_config",
    "dtype",
    "program_config",
    "compute_kernel_config",
    "core_grid",
    "output_tile",
    "optional_output_tensor",
)
PRODUCT_OPTIONS: Final = tuple(option for name in _PLAIN for option in OPTIONS if option.name == name)
"""Options of every matmul-based operator, in the order of `product`."""

COLUMN_OFFSET: Final = Param("in0_column_offset", INTEGER, None, modelled=False)
