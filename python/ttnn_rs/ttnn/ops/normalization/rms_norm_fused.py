"""RMS norm followed by an activation, in one program.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/dit_rms_norm_unary_fused`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.base.activation import Activation, as_unary
from ttnn.base.compute_config import WormholeComputeKernelConfig, wide_fidelity
from ttnn.base.enums import DataType, Layout, MathFidelity, UnaryOpType
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.memory_config import MemoryConfig
from ttnn.golden import normalization as golden
from ttnn.operation.registry import Op, register
from ttnn.operation.signature import ACTIVATION, Kind, Param, Signature
from ttnn.ops._programs.activations import chain_steps, string_to_unary_with_param
from ttnn.ops._programs.common import INPUT_TENSOR, MEMORY_CONFIG_OPTION, on_device
from ttnn.ops._programs.pipeline import rounded
from ttnn.ops.normalization.norm import (
    BIAS,
    DTYPES,
    EPSILON,
    ERRORS,
    PROGRAM_CONFIG,
    RELATIVE,
    RESIDUAL,
    WEIGHT,
    NormProgramConfig,
    compute_config,
    normalized,
    rows_examples,
)
from ttnn.ops.normalization.norm_programs import FunctionStep
from ttnn.tensor.tensor import Tensor

_NAME: Final = "ttnn.experimental.dit_rms_norm_unary_fused"
_EXACT: Final = frozenset({UnaryOpType.SILU, UnaryOpType.GELU, UnaryOpType.RELU})
"""Functions with kernels that ignore the configuration's approximation flag."""


def _steps(activation: Activation | str | None, *, approximate: bool) -> tuple[FunctionStep, ...]:
    if activation is None:
        return ()
    given = string_to_unary_with_param(activation) if isinstance(activation, str) else as_unary(activation)
    if approximate and given.op_type not in _EXACT:
        raise UnsupportedError(
            f"{_NAME}: the approximate form of the activation {given.op_type.name} is not modelled; pass "
            "compute_kernel_config with math_approx_mode=False, or apply it afterwards.",
            "unimplemented",
        )
    # Programs are kept by what they are made of, which lists cannot be.
    return tuple((name, variant, tuple(*parameters)) for name, variant, *parameters in chain_steps(_NAME, given))


def _run(
    input_tensor: Tensor,
    epsilon: float,
    weight: Tensor | None,
    bias: Tensor | None,
    residual_input_tensor: Tensor | None,
    memory_config: MemoryConfig | None,
    program_config: NormProgramConfig | None,
    compute_kernel_config: WormholeComputeKernelConfig | None,
    activation: Activation | str | None,
) -> Tensor:
    given, wide = compute_kernel_config, input_tensor.spec.dtype is DataType.FLOAT32
    fidelity = wide_fidelity(on_device(_NAME, input_tensor).arch()) if wide else MathFidelity.HiFi4
    config = WormholeComputeKernelConfig(
        math_fidelity=fidelity if given is None else given.math_fidelity,
        math_approx_mode=given is None or given.math_approx_mode,
        # The width of Dst follows the input, whatever the configuration says.
        fp32_dest_acc_en=wide,
    )
    return normalized(
        input_tensor,
        epsilon,
        weight,
        bias,
        residual_input_tensor,
        memory_config,
        program_config,
        config,
        name=_NAME,
        centers=False,
        takes_rows=True,
        activation=_steps(activation, approximate=config.math_approx_mode),
    )


def _signature(activation: Kind) -> Signature:
    return Signature(
        (
            INPUT_TENSOR,
            Param("epsilon", EPSILON.kind, rounded(1e-5), doc=EPSILON.doc),
            WEIGHT,
            BIAS,
            RESIDUAL,
        ),
        (
            MEMORY_CONFIG_OPTION,
            PROGRAM_CONFIG,
            compute_config(
                "HiFi4 (HiFi3 for float32 on Wormhole) and an approximate inverse root; Dst has 32 bits for float32, "
                "else 16"
            ),
            Param("activation", activation, None, doc="Applied to the result in Dst."),
        ),
    )


def _examples(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[Any, ...], ...]:
    return tuple((*call, {"activation": "silu"}) for call in rows_examples(shape, layout))


dit_rms_norm_unary_fused = register(
    Op(
        name="experimental.dit_rms_norm_unary_fused",
        signatures=(
            _signature(ACTIVATION),
            _signature(Kind("str", lambda value: isinstance(value, str))),
        ),
        run=_run,
        doc="Return `activation(x / sqrt(mean(x ** 2) + epsilon) * weight + bias)` over the last dimension of `x = "
        "input_tensor + residual_input_tensor`.\n"
        "Shape: [..., H, W] -> [..., H, W].",
        source="tt-metal `ttnn/cpp/ttnn/operations/experimental/transformer/dit_rms_norm_unary_fused`",
        dtypes=DTYPES,
        layouts=(Layout.TILE, Layout.ROW_MAJOR),
        golden=golden.dit_rms_norm_unary_fused,
        accuracy=RELATIVE,
        engine=("Pipeline",),
        raises=(
            *ERRORS,
            ("LayoutError", "the input is row-major and its width is not a multiple of 32."),
        ),
        examples=_examples,
    )
)
