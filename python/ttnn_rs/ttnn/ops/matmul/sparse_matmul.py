"""Sparse batched matmul: a tensor selects matrices, others are zero.

Every product is one of the one-dimensional program, and has its bits. Tiles of fewer rows are multiplied as the first
rows of full tiles, of which every row is computed on its own.
Source: tt-metal `ttnn/cpp/ttnn/operations/matmul/device/sparse`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord
from ttnn.base.enums import FORMAT_CODE, TILE_SIZE, DataType, Layout, MathFidelity
from ttnn.base.exceptions import (
    DTypeError,
    LayoutError,
    ParameterError,
    ProgramConfigError,
    ShapeError,
    UnsupportedError,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG
from ttnn.base.program_config import MatmulMultiCoreReuseMultiCast1DProgramConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import DEFAULT_TILE, Tile
from ttnn.device.lifecycle import MeshDevice
from ttnn.golden import matmul as golden
from ttnn.operation.domain import Operand
from ttnn.operation.registry import declare
from ttnn.operation.signature import BOOLEAN, INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import allocate, by_chips, on_device, same_device, take_output, values_on_host
from ttnn.ops._programs.element_map import move_into
from ttnn.ops._programs.product import tiles_of
from ttnn.ops._programs.windows import copy_tiles
from ttnn.runtime import engine_steps
from ttnn.tensor.device_tensors import get_device_tensors
from ttnn.tensor.tensor import Tensor

from .matmul import GROWS_WITH_K, RAISES, launch, settings_of
from .signatures import OPTIONS

_NAME: Final = "ttnn.sparse_matmul"
_DTYPES: Final = (DataType.BFLOAT16, DataType.FLOAT32, DataType.BFLOAT8_B, DataType.BFLOAT4_B)


@dataclass(frozen=True)
class _Batches:
    """The matrices that each element of the sparsity tensor selects."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    a_sparse: bool
    b_sparse: bool

    @property
    def rows(self) -> int:
        """Rows of the sparsity tensor, with one element per right matrix."""
        if self.a_sparse:
            return 1 if self.b_sparse else math.prod(self.a) // math.prod(self.b)
        return math.prod(self.a)

    @property
    def places(self) -> int:
        """Places of the sparsity tensor, one for every product."""
        return self.rows * math.prod(self.b)

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading dimensions of the output."""
        if self.a_sparse:
            return self.b if self.b_sparse else self.a
        return (*self.a, *self.b)

    def matrices(self, place: int) -> tuple[int, int]:
        """Return the matrices of both operands that are multiplied for a place."""
        row, column = divmod(place, math.prod(self.b))
        return (place if self.a_sparse else row), column


def _operands(a: Tensor, b: Tensor, sparsity: Tensor) -> MeshDevice:
    device = on_device(_NAME, a, "input_tensor_a", "Operands to matmul need to be on device!")
    for label, tensor in (("input_tensor_b", b), ("sparsity", sparsity)):
        on_device(_NAME, tensor, label)
        same_device(_NAME, device, tensor, label)
    for label, tensor in (("input_tensor_a", a), ("input_tensor_b", b)):
        spec = tensor.spec
        if spec.dtype not in _DTYPES:
            raise DTypeError(f"{_NAME}: {label} is {spec.dtype.name}; typecast it to a floating point type first.")
        if spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{_NAME}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor="Inputs to matmul must be tilized",
            )
        if spec.shape.rank < 2 or 0 in tuple(spec.shape):
            raise ShapeError(f"{_NAME}: {label} has shape {spec.shape}; it must be [..., rows, columns], not empty.")
        if spec.tile.tile_shape[1] != TILE_SIZE or (tensor is b and spec.tile != DEFAULT_TILE):
            raise UnsupportedError(
                f"{_NAME}: {label} has tiles of {spec.tile.tile_shape}; input_tensor_a may have tiles of fewer rows, "
                "others are 32x32.",
                "unimplemented",
            )
    if sparsity.spec.dtype is not DataType.BFLOAT16 or sparsity.spec.layout is not Layout.ROW_MAJOR:
        raise DTypeError(
            f"{_NAME}: sparsity is {sparsity.spec.dtype.name} in {sparsity.spec.layout.name}; it must be BFLOAT16 "
            "in ROW_MAJOR."
        )
    return device


def _batches(a: Tensor, b: Tensor, sparsity: Tensor, a_sparse: bool, b_sparse: bool) -> _Batches:
    """Return how the matrices of both operands meet.

    Raises:
        ParameterError: neither operand is sparse.
        ShapeError: shapes do not fit.
    """
    first, second = tuple(a.spec.shape), tuple(b.spec.shape)
    if not (a_sparse or b_sparse):
        raise ParameterError(
            f"{_NAME}: is_input_a_sparse and is_input_b_sparse are both False; one must be True. Use ttnn.matmul."
        )
    if first[-1] != second[-2]:
        raise ShapeError(
            f"{_NAME}: input_tensor_a is {list(first)}, input_tensor_b {list(second)}; K differs.",
            vendor=f"Dimension K (A.shape[-1] {first[-1]}) and B.shape[-2] ({second[-2]}) must match for A and B",
        )
    batches = _Batches(first[:-2], second[:-2], a_sparse, b_sparse)
    matrices = math.prod(batches.a), math.prod(batches.b)
    if a_sparse and (matrices[0] != matrices[1] if b_sparse else matrices[0] % matrices[1]):
        raise ShapeError(
            f"{_NAME}: input_tensor_a has {matrices[0]} matrices, input_tensor_b {matrices[1]}; with a sparse "
            f"input_tensor_a they must be {'as many' if b_sparse else 'a multiple of these'}."
        )
    shape = tuple(sparsity.spec.shape)
    if math.prod(shape) != batches.places:
        raise ShapeError(
            f"{_NAME}: sparsity has shape {list(shape)}, {math.prod(shape)} elements; the batches require "
            f"{batches.places}.",
            vendor=f"sparsity.logical_volume() ({math.prod(shape)}) must be equal to the product of all batch "
            f"dimensions ({batches.places})",
        )
    if (1, *shape)[-1] != matrices[1]:
        raise ShapeError(
            f"{_NAME}: sparsity has rows of {(1, *shape)[-1]}; a row has an element for each of the {matrices[1]} "
            "matrices of input_tensor_b."
        )
    return batches


def _chosen(sparsity: Tensor, nnz: int | None, places: int) -> list[int]:
    """Return the places whose products are wanted.

    Raises:
        ParameterError: there are not `nnz` of them.
    """
    if nnz is not None and not 0 < nnz <= places:
        raise ParameterError(
            f"{_NAME}: nnz={nnz} must be between 1 and {places}.",
            vendor=f"nnz ({nnz}) must be greater than 0"
            if nnz <= 0
            else f"nnz ({nnz}) must be less than or equal to the length of all batch dimensions ({places})",
        )
    # The kernel looks at the bits, so that -0 is a product too.
    found = [float(value) for value in values_on_host(_NAME, sparsity, "sparsity").reshape(-1)]
    chosen = [place for place, value in enumerate(found) if value != 0.0 or math.copysign(1.0, value) < 0]
    if nnz is not None and nnz != len(chosen):
        raise ParameterError(
            f"{_NAME}: nnz={nnz}, but sparsity has {len(chosen)} elements that are not zero; the program would wait "
            "for ever. Leave nnz out to have them counted."
        )
    return chosen


def _in_full_tiles(a: Tensor) -> Tensor:
    """Return a tensor in 32x32 tiles; itself if it has them."""
    spec = a.spec
    if spec.tile == DEFAULT_TILE:
        return a
    assert a._device is not None
    full = allocate(TensorSpec.of(tuple(spec.shape), spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), a._device)
    return move_into(a, full)


def _on_chip(tensor: Tensor, chip: int | None) -> Tensor:
    """Return a tensor's part of one chip; None for the tensor."""
    return tensor if chip is None else get_device_tensors(tensor)[chip]


def _gathered(source: Tensor, matrices: list[int], grid: tuple[int, int], chip: int | None) -> Tensor:
    """Return copies of some matrices of a tensor, of so many tiles."""
    spec = source.spec
    shape = (len(matrices), spec.shape[-2], spec.shape[-1])
    assert source._device is not None
    parts = allocate(TensorSpec.of(shape, spec.dtype, Layout.TILE, DRAM_MEMORY_CONFIG), source._device)
    parts = _on_chip(parts, chip)
    rows, columns = grid
    for place, matrix in enumerate(matrices):
        copy_tiles(
            source,
            parts,
            shape=(len(matrices), rows, columns),
            strides=(0, columns, 1),
            offset=matrix * rows * columns,
            window=((place, 1), (0, rows), (0, columns)),
        )
    return parts


def _zeros(spec: TensorSpec, device: MeshDevice) -> Tensor:
    zeros = allocate(spec, device)
    assert zeros.buffer is not None
    engine_steps.fill(zeros.buffer, format=FORMAT_CODE[spec.dtype], value=0.0)
    return zeros


def _tile_of(a: Tensor, output_tile: Tile | None) -> Tile:
    """Return the output tile.

    It has the rows of the left operand's and the columns of the right one's.

    Raises:
        UnsupportedError: another one is asked for.
    """
    tile = a.spec.tile
    if output_tile is not None and output_tile != tile:
        raise UnsupportedError(
            f"{_NAME}: output_tile={output_tile} is not modelled; the output has tiles of {tile.tile_shape}.",
            "unimplemented",
        )
    return tile


def _sparse_matmul(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    sparsity: Tensor,
    program_config: MatmulMultiCoreReuseMultiCast1DProgramConfig,
    nnz: int | None,
    is_input_a_sparse: bool,
    is_input_b_sparse: bool,
    *rest: Any,
) -> Tensor:
    memory_config, dtype, compute, core_grid, output_tile, output, *_ = rest
    a, b = input_tensor_a, input_tensor_b
    device = _operands(a, b, sparsity)
    batches = _batches(a, b, sparsity, is_input_a_sparse, is_input_b_sparse)
    if not isinstance(program_config, MatmulMultiCoreReuseMultiCast1DProgramConfig) or not program_config.mcast_in0:
        raise ProgramConfigError(
            f"{_NAME}: program_config must be a MatmulMultiCoreReuseMultiCast1DProgramConfig with mcast_in0=True.",
            vendor="Only mcast_in0 is supported for sparse matmul",
        )
    if program_config.fused_activation is not None:
        raise UnsupportedError(
            f"{_NAME}: program_config.fused_activation is not applied by the program; apply it to the result."
        )
    groups = by_chips((sparsity,), (sparsity,))
    chosen = [_chosen(part, nnz, batches.places) for (part,) in groups if part is not None]
    m, k = tuple(a.spec.shape)[-2:]
    n = b.spec.shape[-1]
    program, settings = settings_of(
        _NAME,
        TensorSpec.of((1, 1, m, k), a.spec.dtype, Layout.TILE),
        TensorSpec.of((1, 1, k, n), b.spec.dtype, Layout.TILE),
        device,
        None,
        dtype if output is None else output.spec.dtype,
        program_config,
        compute,
        core_grid,
        None,
        None,
    )
    tile, taken = _tile_of(a, output_tile), program.out.dtype
    shape = (*batches.shape, m, n)
    if output is not None:
        take_output(_NAME, output, shape, Layout.TILE, device)
        tile = output.spec.tile
    rows, inner, columns = tiles_of(m), tiles_of(k), tiles_of(n)
    spec = TensorSpec.of((batches.places, m, n), taken, Layout.TILE, DRAM_MEMORY_CONFIG)
    all_products = _zeros(spec, device)
    a = _in_full_tiles(a)
    for number_of_chip, places in enumerate(chosen):
        if not places:
            continue
        chip = number_of_chip if len(chosen) > 1 else None
        pairs = [batches.matrices(place) for place in places]
        left = _gathered(_on_chip(a, chip), [pair[0] for pair in pairs], (rows, inner), chip)
        right = _gathered(_on_chip(b, chip), [pair[1] for pair in pairs], (inner, columns), chip)
        products = allocate(TensorSpec.of((len(places), m, n), taken, Layout.TILE, DRAM_MEMORY_CONFIG), device)
        products = _on_chip(products, chip)
        launch({**settings, "batch": (len(places),) * 3}, left, right, None, products)
        for number, place in enumerate(places):
            copy_tiles(
                products,
                _on_chip(all_products, chip),
                shape=(batches.places, rows, columns),
                strides=(0, columns, 1),
                offset=number * rows * columns,
                window=((place, 1), (0, rows), (0, columns)),
            )
    result = output
    if result is None:
        place_of = memory_config or DRAM_MEMORY_CONFIG
        result = allocate(TensorSpec.of(shape, taken, Layout.TILE, place_of, tile), device)
    return move_into(all_products, result)


_EXAMPLE: Final = MatmulMultiCoreReuseMultiCast1DProgramConfig(
    compute_with_storage_grid_size=CoreCoord(2, 2),
    in0_block_w=1,
    out_subblock_h=1,
    out_subblock_w=1,
    out_block_h=1,
    out_block_w=1,
    per_core_M=8,
    per_core_N=1,
    fuse_batch=False,
    fused_activation=None,
    mcast_in0=True,
)


_FINE: Final = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi4, fp32_dest_acc_en=True)


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    if len(shape) < 2 or 0 in shape or layout is not Layout.TILE:
        return ()
    places = Operand((math.prod(shape[:-2]), 2), 2, DataType.BFLOAT16, Layout.ROW_MAJOR)
    options = {"sparsity": places, "program_config": _EXAMPLE, "compute_kernel_config": _FINE}
    return ((Operand((2, shape[-1], 64)), options),)


_OPTIONS: Final = tuple(
    option
    for name in (
        "memory_config",
        "dtype",
        "compute_kernel_config",
        "core_grid",
        "output_tile",
        "optional_output_tensor",
        "global_cb",
        "sub_device_id",
    )
    for option in OPTIONS
    if option.name == name
)

sparse_matmul = declare(
    "sparse_matmul",
    (
        Signature(
            (
                Param("input_tensor_a", TENSOR, doc="[..., M, K] on a device, in tiles of up to 32 rows."),
                Param("input_tensor_b", TENSOR, doc="[..., K, N] on the same device.", example=Operand((2, 128, 64))),
            ),
            (
                Param(
                    "sparsity",
                    TENSOR,
                    doc="[..., matrices of `input_tensor_b`]: nonzero for matmuls that are computed.",
                    example=Operand((1, 2), 2, DataType.BFLOAT16, Layout.ROW_MAJOR),
                ),
                Param(
                    "program_config",
                    next(option.kind for option in OPTIONS if option.name == "program_config"),
                    doc="Blocks of a one-dimensional program with mcast_in0.",
                    example=_EXAMPLE,
                ),
                Param("nnz", INTEGER, None, doc="Number of computed matmuls. Default: counted."),
                Param("is_input_a_sparse", BOOLEAN, False, doc="Whether matrices of `input_tensor_a` are left out."),
                Param("is_input_b_sparse", BOOLEAN, True, doc="Whether matrices of `input_tensor_b` are left out."),
                *_OPTIONS,
                Param("indices", TENSOR, None, modelled=False),
                Param("bias", TENSOR, None, modelled=False),
            ),
        ),
    ),
    _sparse_matmul,
    "Return the matmuls that `sparsity` selects, and zeros for the others.\n"
    "Shape: A [a..., M, K], B [b..., K, N] -> [a..., b..., M, N] with sparse B, [b..., M, N] with both sparse, "
    "[a..., M, N] with sparse A.\n"
    "With sparse B every matrix of A is multiplied by every matrix of B; with both sparse, by the one of the same "
    "index; with sparse A, matrix i of A is multiplied by matrix i modulo the number of matrices in B.",
    source="tt-metal `ttnn/cpp/ttnn/operations/matmul/device/sparse`",
    dtypes=_DTYPES,
    layouts=(Layout.TILE,),
    accuracy=GROWS_WITH_K,
    engine=("matmul", "matmul_fast"),
    golden=golden.sparse_matmul,
    timed_by=("sparsity",),
    raises=(*RAISES, ("ParameterError", "`nnz` is not the number of computed matmuls, or neither operand is sparse.")),
    examples=_examples,
)
