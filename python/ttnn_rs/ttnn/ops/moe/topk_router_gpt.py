"""`ttnn.experimental.topk_router_gpt`: experts of every token, and their weights.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/topk_router_gpt`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ttnn.base.enums import TILE_SIZE, DataType, Layout
from ttnn.base.exceptions import DTypeError, LayoutError, ParameterError, ShapeError, UnsupportedError
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.mesh_device import MeshDevice
from ttnn.golden import moe as golden
from ttnn.operation.accuracy import no_bound
from ttnn.operation.domain import Operand
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import INTEGER, TENSOR, Param, Signature
from ttnn.ops._programs.common import allocate, full_tiles, on_device, same_device
from ttnn.ops._programs.pipeline import ROWS, Pipeline
from ttnn.ops._programs.product import Numerics, multiply
from ttnn.ops.data_movement.layout import untilized
from ttnn.ops.data_movement.slice import sliced
from ttnn.runtime import engine_steps
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.topk_router_gpt"
_BF16: Final = DataType.BFLOAT16
_ONE: Final = 0x3F800000
_HIFI2: Final = 2
_EXPERTS: Final = 128
_GROUPS: Final = 4
_MOST: Final = 32


@lru_cache(maxsize=_MOST)
def _weights(k: int) -> Pipeline:
    """Return the softmax of the first `k` of 32 columns."""
    program = Pipeline((TILE_SIZE, k), ROWS, _BF16, True, _HIFI2)
    zero = program.constant(_BF16, 0)
    masked = program.eltwise("add", program.tensor(_BF16), zero, _BF16, padding="-inf")
    largest = program.max(masked, _BF16)
    exps = program.eltwise("sub", masked, largest, _BF16, [("exp", "approx_clampneg")])
    inverse = program.sum(exps, (_BF16, _ONE), _BF16, [("recip", "accurate")], used=TILE_SIZE)
    program.eltwise("mul", exps, inverse, _BF16, output=0)
    return program


def _cores_of_group(device: MeshDevice) -> int:
    """Return the cores that share a tile of experts."""
    cores = device.dram_grid_size().x
    each = 3 if cores >= 3 * _GROUPS else 2
    if cores < each * _GROUPS:
        raise UnsupportedError(
            f"{_NAME}: the program needs {each * _GROUPS} cores next to DRAM banks; this chip has {cores}."
        )
    return each


def _check_tensors(tensors: tuple[tuple[str, Tensor], ...]) -> None:
    for word, tensor in tensors:
        label = f"{word.lower()}_tensor"
        if tensor.spec.layout is not Layout.TILE:
            raise LayoutError(
                f"{_NAME}: {label} is row-major; convert it with ttnn.to_layout(..., ttnn.TILE_LAYOUT).",
                vendor=f"{word} tensor must have TILE layout, got {tensor.spec.layout.cpp_name}",
            )
        full_tiles(_NAME, tensor, label)
        if tensor.spec.dtype is not _BF16:
            raise DTypeError(
                f"{_NAME}: {label} is {tensor.spec.dtype.name}; typecast it to bfloat16.",
                vendor=f"{word} tensor must have BFLOAT16 dtype, got {tensor.spec.dtype.cpp_name}",
            )


def _check(tensors: tuple[tuple[str, Tensor], ...], k: int, experts: int) -> tuple[int, int]:
    """Return tokens and width of the input."""
    if not 1 <= k <= _MOST:
        raise ParameterError(
            f"{_NAME}: k is {k}; it must be 1 to {_MOST}.",
            vendor=f"topk_router_gpt requires k in range [1, 32], got {k}",
        )
    if experts != _EXPERTS:
        raise ParameterError(
            f"{_NAME}: num_experts is {experts}; the program has {_EXPERTS}.",
            vendor=f"topk_router_gpt only supports num_experts=128 (hardcoded 4-group architecture), got {experts}",
        )
    _check_tensors(tensors)
    for word, tensor in tensors:
        if tensor.spec.shape.rank != 2:
            raise ShapeError(
                f"{_NAME}: {word.lower()}_tensor has shape {tensor.spec.shape}; it must be of rank 2.",
                vendor=f"{word} tensor must be rank 2, got rank {tensor.spec.shape.rank}",
            )
    (_, source), (_, weight), (_, bias) = tensors
    tokens, width = tuple(source.spec.shape)
    if not 1 <= tokens <= TILE_SIZE:
        raise ShapeError(
            f"{_NAME}: input_tensor has {tokens} tokens; it must have 1 to {TILE_SIZE}.",
            vendor=f"topk_router_gpt requires batch_size in [1, 32], got {tokens}",
        )
    if width % TILE_SIZE or not width:
        raise ShapeError(
            f"{_NAME}: tokens have {width} elements; they must be a multiple of {TILE_SIZE}.",
            vendor=f"Input hidden_dim must be divisible by 32 (tile size), got {width}",
        )
    expected = (
        (weight, "Weight", 0, width, f"match input hidden_dim {width}"),
        (weight, "Weight", 1, experts, f"match num_experts {experts}"),
        (bias, "Bias", 0, tokens, f"match batch size {tokens}"),
        (bias, "Bias", 1, experts, f"match num_experts {experts}"),
    )
    for tensor, word, dim, size, sentence in expected:
        found = int(tensor.spec.shape[dim])
        if found != size:
            raise ShapeError(
                f"{_NAME}: {word.lower()}_tensor has shape {tensor.spec.shape}; dimension {dim} must be {size}.",
                vendor=f"{word} tensor dim {dim} must {sentence}, got {found}",
            )
    return tokens, width


def _partial_sums(source: Tensor, weight: Tensor, device: MeshDevice, cores: int) -> list[Tensor]:
    """Return products of each core's share of the tokens' elements.

    That of the last core, which adds the others, is what Dst holds.
    """
    tokens, width = tuple(source.spec.shape)
    tiles, sums, first = width // TILE_SIZE, [], 0
    if tiles < cores:
        raise UnsupportedError(
            f"{_NAME}: {tiles} tiles along the tokens' elements leave one of {cores} cores without a product; the sum "
            "that it sends is not defined."
        )
    for core in range(cores):
        share = tiles // cores + (core < tiles % cores)
        start, end = first * TILE_SIZE, (first + share) * TILE_SIZE
        left = sliced(_NAME, source, [0, start], [tokens, end], memory_config=DRAM_MEMORY_CONFIG)
        right = sliced(_NAME, weight, [start, 0], [end, _EXPERTS], memory_config=DRAM_MEMORY_CONFIG)
        dtype = DataType.FLOAT32 if core == cores - 1 else _BF16
        spec = TensorSpec.of((tokens, _EXPERTS), dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
        sums.append(allocate(spec, device))
        multiply(
            left,
            right,
            sums[-1],
            batch=(1, 1, 1),
            tiles=(1, share, _GROUPS),
            numerics=Numerics(_HIFI2, dst32=True),
        )
        first += share
    return sums


def _topk_router_gpt(
    input_tensor: Tensor, weight_tensor: Tensor, bias_tensor: Tensor, k: int, num_experts: int
) -> tuple[Tensor, Tensor]:
    device = on_device(_NAME, input_tensor, "input_tensor")
    for label, tensor in (("weight_tensor", weight_tensor), ("bias_tensor", bias_tensor)):
        same_device(_NAME, device, tensor, label)
    tokens, _ = _check((("Input", input_tensor), ("Weight", weight_tensor), ("Bias", bias_tensor)), k, num_experts)
    *senders, own = _partial_sums(input_tensor, weight_tensor, device, _cores_of_group(device))

    def tiled(columns: int, dtype: DataType) -> Tensor:
        return allocate(TensorSpec.of((tokens, columns), dtype, Layout.TILE, DRAM_MEMORY_CONFIG), device)

    largest, indices = tiled(_MOST, _BF16), tiled(_MOST, DataType.UINT16)
    added = [tensor.buffer for tensor in (*senders, bias_tensor) if tensor.buffer is not None]
    assert own.buffer is not None
    assert largest.buffer is not None
    assert indices.buffer is not None
    engine_steps.router_topk(own.buffer, added, largest.buffer, indices.buffer)
    weights = tiled(_MOST, _BF16)
    _weights(k).run([largest], [weights])
    chosen, shares = (untilized(_NAME, tensor, L1_MEMORY_CONFIG, (tokens, k)) for tensor in (indices, weights))
    return chosen, shares


topk_router_gpt = register(
    Op(
        name="experimental.topk_router_gpt",
        signatures=(
            Signature(
                (
                    Param(
                        "input_tensor",
                        TENSOR,
                        doc="[tokens, D] in bfloat16, up to 32 tokens.",
                        example=Operand((32, 96)),
                    ),
                ),
                (
                    Param("weight_tensor", TENSOR, doc="[D, 128] in bfloat16.", example=Operand((96, _EXPERTS), 2)),
                    Param(
                        "bias_tensor",
                        TENSOR,
                        doc="[tokens, 128] in bfloat16: added to the logits.",
                        example=Operand((32, _EXPERTS), 3),
                    ),
                    Param("k", INTEGER, 4, doc="Experts of a token, 1 to 32."),
                    Param("num_experts", INTEGER, _EXPERTS, doc="All experts: 128."),
                ),
            ),
        ),
        run=_topk_router_gpt,
        doc="Return the k best experts' indices and softmax weights, row-major.\n"
        "Shape: [tokens, D], [D, 128], [tokens, 128] -> [tokens, k], [tokens, k].\n"
        "As in the program, 3 cores (2 with 8 DRAM banks) share the elements of a token. Sums of the others are\n"
        "rounded to bfloat16. The last core truncates its sum to bfloat16 before it adds one of them or the bias.\n"
        "Equal logits have the order of the device's network. The results have no padding.",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/topk_router_gpt`",
        dtypes=(_BF16,),
        layouts=(Layout.TILE,),
        golden=golden.topk_router_gpt,
        accuracy=no_bound("for logits that are nearly equal"),
        engine=("matmul", "Pipeline", "router_topk"),
        raises=(
            ("DTypeError", "a tensor is not bfloat16."),
            ("LayoutError", "a tensor is row-major."),
            ("ShapeError", "shapes do not fit."),
            ("ParameterError", "`k` or `num_experts` is not supported."),
            ("UnsupportedError", "a core would have no tile, or the chip has fewer than 8 DRAM banks."),
        ),
        examples=(),
    )
)
