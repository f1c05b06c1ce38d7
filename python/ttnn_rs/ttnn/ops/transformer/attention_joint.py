"""Scaled dot product attention over two sequences that see each other.

Source: tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa/device/kernels/compute/joint_sdpa.cpp`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import TILE_SIZE, BufferType, DataType, Layout
from ttnn.base.exceptions import DTypeError, MemoryConfigError, ParameterError, ShapeError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.program_config import SDPAProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.golden import transformer as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import REQUIRED, TENSOR, Param, Signature, instance_kind
from ttnn.ops._programs.attention import (
    ACCURACY,
    COMPUTE,
    PROGRAM_CONFIG,
    SCALE,
    cache_shape,
    chunk_tiles,
    head_size,
    numerics,
    operand,
    tiles,
)
from ttnn.ops._programs.common import allocate, on_device
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.transformer.joint_scaled_dot_product_attention"
_DTYPES: Final = (DataType.BFLOAT16, DataType.BFLOAT8_B)
_LABELS: Final = (
    "input_tensor_q",
    "input_tensor_k",
    "input_tensor_v",
    "joint_tensor_q",
    "joint_tensor_k",
    "joint_tensor_v",
)


def _check(tensors: tuple[Tensor, ...]) -> None:
    """Refuse operands that do not fit each other."""
    first = tensors[0]
    for label, tensor in zip(_LABELS, tensors, strict=True):
        operand(_NAME, tensor, label, first, "Inputs to Joint SDPA must be BF16 or BF8")
        head_size(_NAME, tensor.spec.shape[-1], label)
        if tensor.spec.dtype not in _DTYPES or tensor.spec.dtype is not first.spec.dtype:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}; all tensors must be BFLOAT16, or all BFLOAT8_B.",
                vendor="All tensors must have the same dtype"
                if tensor.spec.dtype in _DTYPES
                else "Inputs to Joint SDPA must be BF16 or BF8",
            )
        if tensor.spec.memory_config.buffer_type is not BufferType.DRAM:
            raise MemoryConfigError(
                f"{_NAME}: {label} is in L1; move it to DRAM with ttnn.to_memory_config.",
                vendor="Operands to Joint SDPA need to be in DRAM",
            )
    _check_shapes(tensors)


def _check_shapes(tensors: tuple[Tensor, ...]) -> None:
    shapes = [tuple(tensor.spec.shape) for tensor in tensors]
    outer = {(batch, heads, width) for batch, heads, _, width in shapes}
    of_first, of_joint = ({shape[2] for shape in part} for part in (shapes[:3], shapes[3:]))
    if len(outer) > 1 or len(of_first) > 1 or len(of_joint) > 1:
        parts = ", ".join(f"{label} {list(shape)}" for label, shape in zip(_LABELS, shapes, strict=True))
        raise ShapeError(
            f"{_NAME}: {parts}: batch, heads and head size must agree, and the rows of each sequence.",
            vendor="Head dimensions must match",
        )


def _run(
    tensors: tuple[Tensor, ...],
    query: Tensor,
    scale: float | None,
    program_config: SDPAProgramConfig,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> Tensor:
    """Return the attention of the queries of one sequence."""
    _, key, value, _, joint_key, joint_value = tensors
    batch, heads, rows, width = tuple(query.spec.shape)
    spec = TensorSpec.of((batch, heads, rows, width), query.spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    output = allocate(spec, on_device(_NAME, query))
    buffers = [tensor.buffer for tensor in (query, key, value, output, joint_key, joint_value)]
    assert all(buffer is not None for buffer in buffers)
    engine_steps.attention_prefill(
        tuple(buffers[:3]),  # type: ignore[arg-type]
        None,
        buffers[3],  # type: ignore[arg-type]
        tuple(buffers[4:]),  # type: ignore[arg-type]
        sizes=(batch, heads, heads, tiles(width), tiles(width)),
        rows=tiles(rows),
        positions=key.spec.shape[2],
        first_row=0,
        chunks=(
            chunk_tiles(_NAME, program_config.q_chunk_size, "q_chunk_size"),
            chunk_tiles(_NAME, program_config.k_chunk_size, "k_chunk_size"),
        ),
        causal=False,
        window=None,
        mask_shape=None,
        keys=cache_shape(key),
        values=cache_shape(value),
        table=None,
        sinks=[],
        joint_shapes=(cache_shape(joint_key), cache_shape(joint_value)),
        joint_positions=joint_key.spec.shape[2],
        fast=CONFIG.numerics == "fast",
        **numerics(_NAME, (query, key, value, output), scale, compute_kernel_config, program_config),
    )
    return output


def _joint(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    joint_query: Tensor,
    joint_key: Tensor,
    joint_value: Tensor,
    joint_strategy: str,
    program_config: SDPAProgramConfig,
    scale: float | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
) -> tuple[Tensor, Tensor]:
    if joint_strategy != "rear":
        raise ParameterError(
            f"{_NAME}: joint_strategy is {joint_strategy!r}; it must be 'rear'.",
            vendor=f"Joint strategy must be 'rear'. Got: {joint_strategy}",
        )
    tensors = (query, key, value, joint_query, joint_key, joint_value)
    _check(tensors)
    run = partial(
        _run, tensors, scale=scale, program_config=program_config, compute_kernel_config=compute_kernel_config
    )
    return run(query), run(joint_query)


_SHAPE: Final = (1, 2, 64, 64)
_JOINT_SHAPE: Final = (1, 2, 32, 64)
_CONFIG: Final = SDPAProgramConfig(compute_with_storage_grid_size=CoreCoord(8, 7), q_chunk_size=32, k_chunk_size=32)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) != 4 or layout is not Layout.TILE or 0 in shape or shape[-1] % TILE_SIZE:
        return ()
    joint = (*shape[:2], TILE_SIZE, shape[3])
    others = [Operand(shape, 1), Operand(shape, 2), *(Operand(joint, seed) for seed in (3, 4, 5))]
    return ((*others, {"joint_strategy": "rear", "program_config": _CONFIG}),)


def _param(name: str, what: str, shape: tuple[int, ...], seed: int) -> Param:
    rows = "S" if shape == _SHAPE else "L"
    return Param(name, TENSOR, doc=f"[B, H, {rows}, D] in DRAM: {what}.", example=Operand(shape, seed))


joint_scaled_dot_product_attention = register(
    Op(
        name="transformer.joint_scaled_dot_product_attention",
        signatures=(
            Signature(
                (
                    _param("input_tensor_q", "queries", _SHAPE, 0),
                    _param("input_tensor_k", "keys", _SHAPE, 1),
                    _param("input_tensor_v", "values", _SHAPE, 2),
                    _param("joint_tensor_q", "queries of the second sequence", _JOINT_SHAPE, 3),
                    _param("joint_tensor_k", "its keys", _JOINT_SHAPE, 4),
                    _param("joint_tensor_v", "its values", _JOINT_SHAPE, 5),
                ),
                (
                    Param(
                        "joint_strategy",
                        instance_kind("str", str),
                        doc="'rear': the second sequence follows the first.",
                        example="rear",
                    ),
                    replace(
                        PROGRAM_CONFIG,
                        default=REQUIRED,
                        none=False,
                        doc="Chunk sizes, which decide how sums are grouped, and the grid.",
                        example=_CONFIG,
                    ),
                    SCALE,
                    COMPUTE,
                ),
            ),
        ),
        run=_joint,
        doc="Return the attention of two sequences over both's keys and values.\n"
        "Shape: 3 x [B, H, S, D], 3 x [B, H, L, D] -> [B, H, S, D], [B, H, L, D].\n"
        "Chunks of keys run along the first sequence, then along the second, each padded to full chunks.",
        source="tt-metal `ttnn/cpp/ttnn/operations/transformer/sdpa/device/joint_sdpa_program_factory.cpp`",
        dtypes=_DTYPES,
        layouts=(Layout.TILE,),
        golden=golden.joint_scaled_dot_product_attention,
        accuracy=replace(ACCURACY, ulp={DataType.BFLOAT8_B: ACCURACY.ulp[DataType.BFLOAT8_B]}),
        engine=("attention_prefill",),
        raises=(
            ("ShapeError", "shapes do not fit, or heads are not made of full tiles."),
            ("DTypeError", "a tensor is neither bfloat16 nor bfloat8_b, or they differ."),
            ("LayoutError", "a tensor is row-major."),
            ("MemoryConfigError", "a tensor is in L1."),
            ("ParameterError", "a chunk is not made of full tiles, or `joint_strategy` is not 'rear'."),
        ),
        examples=_examples,
    )
)
